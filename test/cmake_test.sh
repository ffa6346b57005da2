#!/bin/bash
# CMake builds and installs the files of Bazel's build, and tests part of it, for both families of MPIs: equal files
# with equal modes; texts are equal, and libraries have equal names, need equal libraries and export equal symbols. Then
# for one family alone, without MPI, with clang, and for aarch64. No build has a network. Arguments: Bazel's options,
# equal to those of the build before, to avoid a second build.
set -euo pipefail
trap 'echo "cmake_test.sh: line $LINENO ended with status $?" >&2' ERR

cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
libdir=lib/$(gcc -print-multiarch)

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# Commands behind it have no network, where the system allows that.
# Without a loopback interface mpicc warns, and FindMPI takes the warning for a path.
# shellcheck disable=SC2016 # another shell expands it
offline=(unshare --map-root-user --net sh -c 'ip link set lo up && exec "$@"' --)
"${offline[@]}" true 2>"$work/out" || { offline=(); echo "the builds have a network: $(<"$work/out")"; }

# built PRESET OPTION...: builds and tests in $work/PRESET.
built() {
  local preset=$1
  shift
  echo "${offline[*]} cmake --preset $preset $*"
  "${offline[@]}" cmake --preset "$preset" -B "$work/$preset" "$@" >"$work/out" 2>&1 ||
    { cat "$work/out"; fail "cmake"; }
  "${offline[@]}" cmake --build "$work/$preset" --parallel "$(nproc)" >"$work/out" 2>&1 ||
    { cat "$work/out"; fail "cmake --build"; }
  ctest --test-dir "$work/$preset" --output-on-failure --no-tests=error >"$work/out" 2>&1 ||
    { cat "$work/out"; fail "ctest"; }
  grep 'tests passed' "$work/out"
}

# Tests that a build without GoogleTest, libsodium or mpiexec would lack.
has_tests() {  # PRESET TEST...
  local test
  ctest --test-dir "$work/$1" -N >"$work/out"
  for test in "${@:2}"; do grep -q ": $test\$" "$work/out" || fail "the build $1 has no test $test"; done
}

# The properties of a library or program that programs and the loader see, without the libraries that each compiler
# links by itself, and without inline functions (W and V), of which the options of the compiler decide.
facts() {
  readelf --dynamic "$1" | sed -nE 's/.*\((NEEDED|SONAME|RUNPATH|SYMBOLIC|FLAGS_1)\) */\1 /p' |
    grep -vE 'NEEDED.*\[(lib(stdc\+\+|gcc_s|m|c)|ld-linux.*)\.so' | sort
  [[ $1 == */bin/* ]] || nm --dynamic --defined-only --with-symbol-versions "$1" | awk '$2 !~ /[AVW]/ { print $2, $3 }' | sort
}

built debian-either -DCMAKE_INSTALL_LIBDIR="$libdir"
! grep -E 'Skipped|Not Run' "$work/out" || fail "debian-either: tests are left out"
has_tests debian-either transport_tcp_test blacs_c_test example_solve
cmake --install "$work/debian-either" --prefix "$work/cmake" >"$work/out" || { cat "$work/out"; fail "cmake --install"; }
./install.sh --prefix "$work/bazel" --libdir "$libdir" --either -- "$@"

list() { (cd "$1" && find . ! -type d -printf '%P %m %l\n' | LC_ALL=C sort); }
diff <(list "$work/bazel") <(list "$work/cmake") || fail "other files or modes: '<' is installed by install.sh, '>' by CMake"
while read -r file; do
  if readelf --file-header "$work/bazel/$file" >"$work/out" 2>&1; then
    diff <(facts "$work/bazel/$file") <(facts "$work/cmake/$file") ||
      fail "$file differs: '<' is Bazel's, '>' is CMake's"
  else
    diff "$work/bazel/$file" "$work/cmake/$file" || fail "$file differs: '<' is of install.sh, '>' of CMake"
  fi
done < <(cd "$work/bazel" && find . -type f -printf '%P\n')

# These builds are not measured.
quick=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1)
clang=(-DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_C_COMPILER=clang-14)
built debian-openmpi "${quick[@]}" "${clang[@]}"
has_tests debian-openmpi transport_tcp_test blacs_c_test example_solve
built debian-mpich "${quick[@]}"
has_tests debian-mpich transport_tcp_test blacs_c_test example_grid_sum
for family in openmpi mpich; do
  [[ -z $(find "$work/debian-$family/lib" -name 'libbrigade_*_*.so.1' ! -name "*_$family.so.1") ]] ||
    fail "debian-$family has parts for another MPI"
  rm -r "$work/debian-$family"
done
built without-mpi "${quick[@]}" "${clang[@]}"
has_tests without-mpi transport_tcp_test first_call
built aarch64 "${quick[@]}"
has_tests aarch64 membuf_test first_call
echo "CMake installs what install.sh does."
