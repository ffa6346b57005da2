#!/bin/bash
# The packages that packaging/build_debian.sh builds: lintian finds no errors, and examples are built with what is in
# them, and run. Arguments: Bazel's options, as of the build before, so that nothing is built twice.
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
