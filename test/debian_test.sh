#!/bin/bash
# The packages of packaging/build_debian.sh: lintian finds no errors, and examples are built with their files, and run;
# the source package has all of the source. Arguments: Bazel's options, equal to those of the build before, to avoid a
# second build.
set -euo pipefail
trap 'echo "debian_test.sh: line $LINENO ended with status $?" >&2' ERR

cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

version=$(sed -nE 's/.*BRIGADE_VERSION "(.*)".*/\1/p' membuf/version.h)
[[ $(dpkg-parsechangelog --file packaging/debian/changelog --show-field Version) == "$version" ]] ||
  fail "packaging/debian/changelog is not of $version"

./packaging/build_debian.sh "$work/packages" "$@" >"$work/out" 2>&1 || { cat "$work/out"; fail "build_debian.sh"; }
(cd "$work/packages" && lintian --allow-root --fail-on error ./*.changes) || fail "lintian"
# The source package has the files of git, except ignored ones, and debian/ at its top.
./packaging/build_debian.sh --source "$work/source" >"$work/out" 2>&1 ||
  { cat "$work/out"; fail "build_debian.sh --source"; }
dpkg-source --extract "$work/source/brigade_$version.dsc" "$work/unpacked" >"$work/out" 2>&1 ||
  { cat "$work/out"; fail "dpkg-source --extract"; }
diff <(git ls-files --cached --others --exclude-standard ':!.gitignore' | LC_ALL=C sort) \
  <(cd "$work/unpacked" && find . -path ./debian -prune -o ! -type d -printf '%P\n' | LC_ALL=C sort) ||
  fail "the source package has other files than the checkout"
diff -r packaging/debian "$work/unpacked/debian" || fail "debian/ in the source package"
(cd "$work/source" && lintian --allow-root --fail-on error ./*.dsc) || fail "lintian of the source package"

root=$work/root
for package in libbrigade1 libbrigade-dev brigade-tools; do
  dpkg-deb --extract "$work/packages/${package}_${version}_$(dpkg --print-architecture).deb" "$root"
done
[[ -z $(find "$root" -xtype l) ]] || fail "links that lead nowhere: $(find "$root" -xtype l)"

lib=$root/usr/lib/$(gcc -print-multiarch)
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib
run() {  # TEXT COMMAND...
  ./test/support/run_mpi.sh 4 "${@:2}" >"$work/out" 2>&1 || { cat "$work/out"; fail "${*:2}"; }
  grep -qF -- "$1" "$work/out" || { cat "$work/out"; fail "${*:2} does not print '$1'"; }
}
# shellcheck disable=SC2046 # lists of words
mpicc examples/grid_sum.c -o "$work/grid_sum" $(pkg-config --cflags --libs brigade_blacs)
run 'the sum of row 0 is 1' "$work/grid_sum"
# shellcheck disable=SC2046 # lists of words
mpicxx examples/broadcast_and_sum.cc -o "$work/broadcast_and_sum" $(pkg-config --cflags --libs brigade)
run 'every element is 4' "$work/broadcast_and_sum"
mpif90 examples/solve.f90 -o "$work/solve" -lscalapack-openmpi
BRIGADE_LOG=info run "BLACS over transport" "$root/usr/bin/brigade_run" "$work/solve"
"$root/usr/bin/brigade_info" >"$work/out" || fail "brigade_info"
grep -q '^  shm  *yes' "$work/out" || fail "brigade_info"
echo "The packages work."
