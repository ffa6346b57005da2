#!/bin/bash
# Builds Debian's packages of this checkout, from DIRECTORY/brigade; or their source package.
set -euo pipefail

usage() {
  echo "usage: $0 DIRECTORY [BAZEL-OPTION...]
       $0 --source DIRECTORY" >&2
  exit 2
}

source=false
[[ ${1-} != --source ]] || { source=true; shift; }
[[ $# -gt 0 && $1 != -* ]] || usage
mkdir -p "$1"
directory=$(realpath "$1")
shift
! $source || [[ $# -eq 0 ]] || usage
cd "$(dirname "$0")/.."

tree=$directory/brigade
rm -rf "$tree"
mkdir "$tree"
# dpkg-buildpackage wants debian/ at the top.
if $source; then
  git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- | tar --extract -C "$tree"
  cp -r packaging/debian "$tree"
  cd "$tree"
  dpkg-buildpackage -us -uc -S -d  # without what a build takes
else
  # The rest is built where it is.
  cp -r packaging/debian CHANGELOG.md "$tree"
  export BRIGADE_SOURCE=$PWD BRIGADE_OPTIONS="$*"
  cd "$tree"
  dpkg-buildpackage -us -uc -b
fi
