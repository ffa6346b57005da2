#!/bin/bash
# The packages of packaging/build_debian.sh: lintian finds no errors, and examples are built with their files, and run
# with both MPIs. The tests of the package's build are left out, since test/cmake_test.sh runs them.
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
[[ $(dpkg-parsechangelog --file packaging/debian/changelog --show-field Version) == "$version"-* ]] ||
  fail "packaging/debian/changelog is not of $version"

git clone --quiet . "$work/checkout"
cp packaging/build_debian.sh "$work/checkout/packaging"
if "$work/checkout/packaging/build_debian.sh" "$work/checkout/packages" >"$work/out" 2>&1 ||
  ! grep -q 'is inside the checkout' "$work/out"; then
  cat "$work/out"
  fail "build_debian.sh into the checkout"
fi
rm "$work/checkout/LICENSE"
if "$work/checkout/packaging/build_debian.sh" "$work/none" >"$work/out" 2>&1 ||
  ! grep -q 'missing in the checkout.* LICENSE$' "$work/out"; then
  cat "$work/out"
  fail "build_debian.sh of a checkout without a file"
fi

export DEB_BUILD_OPTIONS="nocheck noautodbgsym"
./packaging/build_debian.sh "$work/packages" >"$work/out" 2>&1 || { cat "$work/out"; fail "build_debian.sh"; }
(cd "$work/packages" && lintian --allow-root --fail-on error ./*.changes) || fail "lintian"

root=$work/root
for package in "$work/packages"/*.deb; do dpkg-deb --extract "$package" "$root"; done
[[ -z $(find "$root" -xtype l) ]] || fail "links that lead nowhere: $(find "$root" -xtype l)"

documents=$root/usr/share/doc
[[ -n $(find "$documents" -path '*/docs/README.md') ]] || fail "brigade-doc has no pages"
[[ -z $(find "$documents" -name '*.sh' -o -name Doxyfile) ]] || fail "brigade-doc has files that build the reference"

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
mpicc.mpich examples/grid_sum.c -o "$work/grid_sum" $(pkg-config --cflags --libs brigade_blacs)
timeout 120 mpirun.mpich -n 4 "$work/grid_sum" >"$work/out" 2>&1 || { cat "$work/out"; fail "grid_sum with MPICH"; }
grep -qF 'the sum of row 0 is 1' "$work/out" || { cat "$work/out"; fail "grid_sum with MPICH prints no sum"; }
# shellcheck disable=SC2046 # lists of words
mpicxx examples/broadcast_and_sum.cc -o "$work/broadcast_and_sum" $(pkg-config --cflags --libs brigade)
run 'every element is 4' "$work/broadcast_and_sum"
mpif90 examples/solve.f90 -o "$work/solve" -lscalapack-openmpi
BRIGADE_LOG=info run "BLACS over transport" "$root/usr/bin/brigade_run" "$work/solve"
"$root/usr/bin/brigade_info" >"$work/out" || fail "brigade_info"
grep -q '^  shm  *yes' "$work/out" || fail "brigade_info"
echo "The packages work."
