#!/bin/bash
# Builds Debian's packages of this checkout, and their source package, in DIRECTORY.
set -euo pipefail

if [[ $# -eq 0 || $1 == -* ]]; then
  echo "usage: $0 DIRECTORY [OPTION-OF-DPKG-BUILDPACKAGE...]" >&2
  exit 2
fi
directory=$(realpath --canonicalize-missing "$1")
shift
cd -P "$(dirname "$0")/.."
if [[ $directory/ == "$PWD"/* ]] && ! git check-ignore --quiet "$directory/"; then
  echo "$0: $directory is inside the checkout, so its files would be packed, too; name a folder elsewhere" >&2
  exit 2
fi
mkdir -p "$directory"

deleted=$(git ls-files --deleted)
if [[ -n $deleted ]]; then
  echo "$0: files of git are missing in the checkout; restore them by git restore, or remove them by git rm:" \
    "$deleted" >&2
  exit 1
fi

version=$(sed -nE 's/.*BRIGADE_VERSION "(.*)".*/\1/p' membuf/version.h)
archive=$directory/brigade_$version.orig.tar.gz
tree=$directory/brigade-$version
git ls-files -z --cached --others --exclude-standard |
  tar --create --gzip --null --files-from=- --transform="s,^,brigade-$version/," --file="$archive"
rm -rf "$tree"
tar --extract --file="$archive" --directory="$directory"
cp -r packaging/debian "$tree"
cd "$tree"
dpkg-buildpackage --unsigned-source --unsigned-changes "$@"
