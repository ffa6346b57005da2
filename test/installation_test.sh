#!/bin/bash
# An installation by install.sh works after it is moved: the examples are built with pkg-config and with CMake, and run;
# the programs run, too. Arguments: Bazel's options, equal to those of the build before, to avoid a second build.
set -euo pipefail
trap 'echo "installation_test.sh: line $LINENO ended with status $?" >&2' ERR

cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run_mpi=$PWD/test/support/run_mpi.sh
examples=$PWD/examples
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# refused TEXT ARGUMENT...: install.sh prints the text, with exit code 2, and installs nothing.
refused() {
  local text=$1 code=0
  shift
  ./install.sh "$@" >"$work/out" 2>&1 || code=$?
  [[ $code -eq 2 ]] || fail "install.sh $*: exit code $code"
  grep -qF -- "$text" "$work/out" || fail "install.sh $*: does not say '$text'"
}
refused 'unknown argument --prefx' --prefx "$work/none"
refused '--prefix is missing'
refused '--prefix needs a name' --prefix=
refused '/dev/null is no folder that you can write to' --prefix=/dev/null/brigade
refused 'there is no MPI cray' --prefix "$work/none" --mpi cray
MPICC=/usr/bin/mpicc refused "--either is built with Debian's MPIs" --prefix "$work/none" --either
MPICC=mpicc.mpich refused 'MPICC=mpicc.mpich is not of openmpi: --mpi mpich' --prefix "$work/none"
MPICC=mpicc refused 'MPICC=mpicc is not of mpich: --mpi openmpi' --prefix "$work/none" --mpi mpich
# shellcheck disable=SC2088 # no shell expands it
refused "shells leave the ~ of --prefix=~/none as it is; --prefix \$HOME/none" --prefix='~/none'
refused '--libdir is a folder in the prefix' --prefix "$work/none" --libdir /usr/lib
mkdir "$work/few"
ln -s "$(command -v realpath)" "$(command -v dirname)" "$work/few"
! PATH=$work/few ./install.sh --prefix "$work/none" >"$work/out" 2>&1 || fail "install.sh does without bazel"
[[ $(cat "$work/out") == 'install.sh: there is no bazel; ./test/install.sh installs it' ]] ||
  { cat "$work/out"; fail "install.sh does not name what is missing"; }
[[ ! -e $work/none ]] || fail "a refused call has installed something"

# The programs find the libraries beside them. Only programs that are preloaded need a path without a blank.
./install.sh --prefix="$work/a folder" -- "$@"
mv "$work/a folder" "$work/plain"
"$run_mpi" 2 "$work/plain/bin/brigade_bench" calls --seconds 0.01 --peers none >"$work/out" 2>&1 || fail "brigade_bench"
grep -q shim "$work/out" || fail "brigade_bench does not find the BLACS"
# A host without these runs, too, and libraries take the MPI that the program has.
for file in "$work"/plain/lib/*.so.1 "$work"/plain/bin/brigade_{bench,info}; do
  needed=$(readelf --dynamic "$file" | grep NEEDED) || fail "readelf $file"
  optional='liburing|libsodium'
  [[ $file == */bin/* ]] || optional+='|libmpi'
  ! grep -E "$optional" <<<"$needed" || fail "$file needs these"
done

# Twice: the second is onto the first. The folder of libraries is the deeper kind, as Debian's.
libdir=lib/$(gcc -print-multiarch)
for _ in 1 2; do
  ./install.sh --prefix "$work/first" --libdir "$libdir" -- "$@"
  # As after an installation for another MPI.
  old=("$work/first/$libdir/libbrigade_blacs_mpich.so.1" "$work/first/include/brigade/mpi.h")
  for file in "${old[@]}"; do [[ ! -e $file ]] || fail "the second installation leaves $file of the first"; done
  touch "${old[@]}"
done
rm "${old[@]}"
mv "$work/first" "$work/moved"
prefix=$work/moved
lib=$prefix/$libdir
! grep -rlF "$work/first" "$prefix" || fail "these files know where they were installed"
[[ -z $(find "$prefix" -xtype l) ]] || fail "links that lead nowhere: $(find "$prefix" -xtype l)"

export PKG_CONFIG_PATH=$lib/pkgconfig PATH=$prefix/bin:$PATH
mkdir "$work/pkg-config"
compile() {  # COMPILER FILE PACKAGE LIBRARY...
  local name
  name=$(basename "${2%.*}")
  # shellcheck disable=SC2046,SC2086 # lists of words
  $1 "$examples/$2" -o "$work/pkg-config/$name" $(pkg-config --cflags --libs "$3") \
    -Wl,-rpath,"$(pkg-config --variable=libdir "$3")" "${@:4}"
}
for example in broadcast_and_sum user_function; do
  compile "mpicxx -std=c++20 -Wall -Werror" $example.cc brigade
  compile "mpicxx -std=c++17 -Wall -Werror" $example.cc brigade
done
c99="-std=c99 -pedantic -Wall -Wextra -Werror"
for example in spread_while_computing blocks groups give_up persistent event_loop shared_counter halo_exchange; do
  compile "mpicc $c99" $example.c brigade
done
compile "gcc $c99" without_mpi.c brigade
compile "mpicc $c99" matrix_product.c brigade -Wl,--no-as-needed -lblas
compile "mpicc $c99" transpose.c brigade_li
compile "mpicc $c99" deal_by_key.c brigade_bsp
compile "mpicc $c99" grid_sum.c brigade_blacs
compile mpif90 solve.f90 brigade_blacs -lscalapack-openmpi
# shellcheck disable=SC2046 # lists of words
mpicc test/blacs/blacs_c_header_test.c -o "$work/wide" $(pkg-config --cflags --libs brigade_blacs64) -Wl,-rpath,"$lib"
"$run_mpi" 4 "$work/wide" >"$work/out" 2>&1 || { cat "$work/out"; fail "brigade_blacs64"; }

# No header of ours hides another project's.
./test/documented_lines.py "$prefix" || fail "lines of the documents do not compile"
# shellcheck disable=SC2046 # lists of words
mpicc test/bsp/with_mpi.c -o "$work/with_mpi" $(pkg-config --cflags --libs brigade_bsp) -Wl,-rpath,"$lib"
"$run_mpi" 3 "$work/with_mpi" >"$work/out" 2>&1 || { cat "$work/out"; fail "BSPlib and MPI in one program"; }

# Linked before ScaLAPACK the products are ours, over the reference BLACS and over ours; also in a plugin, which alone
# sees what it is linked with, MPI too.
multiplies() {  # COMMAND...
  BRIGADE_EXPLAIN=1 "$run_mpi" 4 "$@" >"$work/out" 2>&1 || { cat "$work/out"; fail "$*"; }
  grep -q 'PDGEMM NN 600 x 600 x 600 on 2 x 2 ranks: by one-sided communication' "$work/out" ||
    { cat "$work/out"; fail "-lbrigade_pblas $blacs before ScaLAPACK: $* takes no product"; }
}
for blacs in '' -lbrigade_blacs; do
  # shellcheck disable=SC2206,SC2207 # words
  linked=(test/pblas/linked_product.f90 $(pkg-config --libs brigade_pblas) $blacs -Wl,-rpath,"$lib" -lscalapack-openmpi)
  mpif90 "${linked[@]}" -o "$work/product"
  multiplies "$work/product"
  mpif90 -shared -fPIC "${linked[@]}" -o "$work/plugin.so"
  multiplies python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1]).main(0, None)' "$work/plugin.so"
done

mkdir "$work/linked"
cat >"$work/linked/CMakeLists.txt" <<EOT
cmake_minimum_required(VERSION 3.13)
project(product C Fortran)
find_package(MPI REQUIRED)
find_package(Brigade REQUIRED)
add_executable(product $PWD/test/pblas/linked_product.f90)
target_link_libraries(product Brigade::pblas scalapack-openmpi MPI::MPI_Fortran)
add_executable(with_mpi $PWD/test/bsp/with_mpi.c)
target_link_libraries(with_mpi Brigade::bsp MPI::MPI_C)
EOT
{ cmake -S "$work/linked" -B "$work/linked" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$work/linked"; } \
  >"$work/out" 2>&1 || { cat "$work/out"; fail "Brigade::pblas or Brigade::bsp"; }
multiplies "$work/linked/product"
"$run_mpi" 3 "$work/linked/with_mpi" >"$work/out" 2>&1 || { cat "$work/out"; fail "BSPlib and MPI with CMake"; }

cmake -S "$examples" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/out" || { cat "$work/out"; exit 1; }
cmake --build "$work/cmake" >"$work/out" || { cat "$work/out"; exit 1; }

# prints EXAMPLE COMMAND...: the command prints the lines in the head of the example.
prints() {
  echo "${*/#$work\//}"
  BRIGADE_LOG=info ./test/support/prints.sh "$examples/$1" "$run_mpi" 4 "${@:2}" || fail "${*:2}"
}
all_print() {
  local example way
  for example in broadcast_and_sum.cc user_function.cc spread_while_computing.c blocks.c groups.c give_up.c \
    persistent.c event_loop.c shared_counter.c halo_exchange.c matrix_product.c transpose.c deal_by_key.c grid_sum.c \
    solve.f90; do
    for way in pkg-config cmake; do prints "$example" "$work/$way/${example%.*}"; done
  done
}
all_print
# four COMMAND...: starts ranks 0 to 3 of a job without MPI by COMMAND RANK 4.
four() {
  local rank pids=() code=0
  for rank in 3 1 2 0; do
    timeout 200 "$@" $rank 4 >"$work/out.$rank" 2>&1 &
    pids+=($!)
  done
  for rank in "${pids[@]}"; do wait "$rank" || code=$?; done
  [[ $code -eq 0 ]] || { cat "$work"/out.?; fail "${*/#$work\//}: exit code $code"; }
}
four "$work/pkg-config/without_mpi" 127.0.0.1:$((20000 + $$ % 10000))
grep -q 'rank 0: the sum is 100' "$work/out.0" || { cat "$work"/out.?; fail "without_mpi"; }
# Every call of the C headers, compiled with the installed headers.
calls=(test/api/{call_forms,every_call,block_calls,completion_calls,every_group}.c)
# shellcheck disable=SC2046,SC2086 # lists of words
gcc $c99 -I. test/api/without_mpi.c "${calls[@]}" \
  -o "$work/every_call" $(pkg-config --cflags --libs brigade) -Wl,-rpath,"$lib"
four "$work/every_call" auto 127.0.0.1:$((30000 + $$ % 2000))
for rank in 0 1 2 3; do
  grep -q "rank $rank: passed" "$work/out.$rank" || { cat "$work"/out.?; fail "every call from an installation"; }
done
every() {  # COMPILER PACKAGE RANKS SOURCES ARGUMENT...
  # shellcheck disable=SC2046,SC2086 # lists of words
  $1 -I. $4 -o "$work/every" $(pkg-config --cflags --libs "$2") -Wl,-rpath,"$lib" -lm -ldl
  "$run_mpi" "$3" "$work/every" "${@:5}" >"$work/out" 2>&1 || { cat "$work/out"; fail "$4 as installed, by $1"; }
}
BRIGADE_IFCAE=eth0 every "mpicc $c99" brigade 4 "test/api/brigade_c_test.c ${calls[*]}"
every "mpicc $c99" brigade 3 test/windows/window_c_test.c auto
every "mpicc $c99" brigade 4 test/windows/multiply_c_test.c auto
every "mpicc $c99" brigade_bsp 3 test/bsp/bsp_cases.c
every "mpicc $c99" brigade_li 3 test/li/li_cases.c sound
# A result that a C++ program ignores is a warning.
printf '#include "brigade/brigade.hpp"\nvoid Ignore(brigade::Group& group) { group.Barrier(); }\n' >"$work/ignore.cc"
g++ -std=c++17 -Wall -I"$prefix/include" -fsyntax-only "$work/ignore.cc" 2>"$work/out"
grep -q nodiscard "$work/out" || fail "no warning if a program ignores a Result"
# Every method of the C++ headers.
for standard in 17 20; do every "mpicxx -std=c++$standard -Wall -Werror" brigade 4 test/api/every_method.cc; done
# As if installed for both families: a program that calls no MPI itself has none, and gets that of its launcher. The
# parts for MPICH may be empty, for none is opened.
for part in "$lib"/libbrigade_*_openmpi.so.1; do touch "${part/_openmpi/_mpich}"; done
all_print
code=0
"$work/pkg-config/grid_sum" >"$work/out" 2>&1 || code=$?
[[ $code -ne 0 ]] || fail "without a launcher either family is taken"
grep -q 'launcher of either: start the program with mpirun, or link the program with -Wl,--no-as-needed' "$work/out" ||
  { cat "$work/out"; fail "no text for a program without MPI"; }
grep -q '^  for MPICH  *blacs, blacs64, mpi, pblas, pblas64, rma$' <<<"$(brigade_info)" || fail "brigade_info: families"
rm "$lib"/libbrigade_*_mpich.so.1
grep -q '^  for MPICH  *none$' <<<"$(brigade_info)" || fail "brigade_info: families that are not there"

mpif90 "$examples/solve.f90" -o "$work/solve" -lscalapack-openmpi
# The order of libraries decides, and brigade_info prints the result.
mpif90 "$examples/solve.f90" -o "$work/after" -lscalapack-openmpi -L"$lib" -lbrigade_blacs -Wl,-rpath,"$lib"
for program in solve after; do
  grep -q '^  BLACS  .*libscalapack.*, not Brigade: .*link -lbrigade_blacs before it, or preload libbrigade_blacs.so$' \
    <<<"$(brigade_info "$work/$program")" || fail "brigade_info $program"
done
ours='^  BLACS  .*/libbrigade_blacs.so.1, Brigade$'
grep -q "$ours" <<<"$(brigade_info "$work/pkg-config/solve")" || fail "brigade_info of a program that is linked"
grep -q "$ours" <<<"$(brigade_run brigade_info "$work/solve")" || fail "brigade_info with a preload"
BRIGADE_TRACE=$work/solve.json prints solve.f90 brigade_run -- "$work/solve"

# The programs, which find each other.
brigade_merge_trace "$work/solve.json"
PATH=/usr/bin:$PATH brigade_trace_picture "$work/solve.json" >"$work/out"  # Debian's Python has numpy
grep -q wait "$work/out" || fail "brigade_trace_picture shows no waits"
grep -q '^  shm  *yes' <<<"$(brigade_info)" || fail "brigade_info"
mpicc test/transport/one_mpi.c -o "$work/one_mpi" -ldl
BRIGADE_LOG=info "$run_mpi" 2 brigade_run --pblas --rma --blacs "$work/one_mpi" >"$work/out" 2>&1 ||
  { cat "$work/out"; fail "brigade_run with several libraries"; }
for text in 'BLACS over transport' 'carried over'; do
  grep -q "$text" "$work/out" || { cat "$work/out"; fail "brigade_run does not preload what is named"; }
done
mkdir -p "$work/two words/bin"
cp "$prefix/bin/brigade_run" "$work/two words/bin"
! "$work/two words/bin/brigade_run" true 2>"$work/out" || fail "brigade_run runs a program without its libraries"
grep -q '^brigade_run: LD_PRELOAD takes no path with a space' "$work/out" || fail "brigade_run takes two words"
code=0
brigade_run --n 4 2>"$work/out" >/dev/null || code=$?
[[ $code -ne 0 && $(cat "$work/out") == 'brigade_run: unknown option --n' ]] || fail "brigade_run takes --n"
code=0
brigade_run --rma 2>"$work/out" >/dev/null || code=$?
[[ $code -ne 0 && $(cat "$work/out") == 'brigade_run: a program is missing' ]] || fail "brigade_run without a program"
for program in "$prefix"/bin/*; do
  [[ -s $prefix/share/man/man1/$(basename "$program").1 ]] || fail "$program has no manual page"
  "$program" --help >"$work/out" || fail "$program --help"
done
echo "The installation works."
