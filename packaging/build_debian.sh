#!/bin/bash
# Builds Debian's packages of this checkout: ./packaging/build_debian.sh DIRECTORY [BAZEL-OPTION...]
set -euo pipefail

[[ $# -gt 0 && $1 != -* ]] || { echo "usage: $0 DIRECTORY [BAZEL-OPTION...]" >&2; exit 2; }
mkdir -p "$1"
directory=$(realpath "$1")
shift
cd "$(dirname "$0")/.."

tree=$directory/brigade
rm -rf "$tree"
mkdir "$tree"
# dpkg-buildpackage wants debian/ at the top. The rest is built where it is.
cp -r packaging/debian CHANGELOG.md "$tree"
export BRIGADE_SOURCE=$PWD BRIGADE_OPTIONS="$*"
cd "$tree"
dpkg-buildpackage -us -uc -b
