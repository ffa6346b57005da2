#!/bin/bash
# The BLACS under MPICH, in brief: what of them calls MPI is compiled with MPICH's headers, and lies beside those
# libraries of the last build that are for all MPIs. A program of C and one of Debian's testers run, a program that
# makes no call of MPI under the launchers of both families, and programs that use a grid while MPI ends. mpich_test.sh
# tests all there is for MPICH. The last line counts.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
. test/support/checks.sh
export OMP_NUM_THREADS=1 TMPDIR=$work
source=$PWD
lib=$work/lib

compiled() {  # FOLDER...: what has no name that the libraries for all MPIs have.
  local folders=("${@/#/$source/}")
  # shellcheck disable=SC2046 # a list of words
  find "${folders[@]}" -name '*.cc' ! -name '*_test.cc' ! -name names.cc -print0 |
    xargs -0 -P "$(nproc)" -n 3 g++ -std=c++17 -O1 -fPIC -c -DMPICH_SKIP_MPICXX -I"$source" -I"$source/include" \
      $(mpicxx.mpich -show | grep -oE -- '-I[^ ]+')
}

linked() {  # NAME OPTION...
  g++ -shared -o "$lib/$1" ./*.o "$lib/libbrigade.so.0" -Wl,-soname,"$1" -Wl,-rpath,"\$ORIGIN" "${@:2}"
}

built() {
  mkdir "$lib" "$work/mpi" "$work/blacs" && cp bazel-bin/patterns/api/libbrigade.so.0 "$lib" &&
    cp bazel-bin/blacs_shim/libbrigade_blacs.so.0 "$lib" && ln -s libbrigade_blacs.so.0 "$lib/libbrigade_blacs.so" &&
    (cd "$work/mpi" && compiled transport/mpi && linked libbrigade_mpi_mpich.so.0 -Wl,-Bsymbolic) &&
    (cd "$work/blacs" && compiled blacs_shim &&
      linked libbrigade_blacs_mpich.so.0 "$lib/libbrigade_mpi_mpich.so.0" \
        -Wl,--version-script="$source/blacs_shim/exports.map")
}

program() {
  mpicc.mpich -Wall -Werror -Iinclude -o "$work/program" test/blacs/blacs_c_header_test.c "$lib/libbrigade_blacs.so" \
    -Wl,-rpath,"$lib" || return
  BRIGADE_LOG=info timeout 120 mpirun.mpich -n 4 "$work/program" 2>&1 | tee "$work/said"
  [[ ${PIPESTATUS[0]} -eq 0 ]] && grep "BLACS over transport" "$work/said"
}

# As installed for both families: of a program that makes no call of MPI the launcher decides.
either() {
  local compiler launcher
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  cp bazel-bin/blacs_shim/libbrigade_{blacs,mpi}_openmpi.so.0 "$lib" || return
  for compiler in mpicc.openmpi mpicc.mpich; do
    "$compiler" -Iinclude -o "$work/grid_sum" examples/grid_sum.c "$lib/libbrigade_blacs.so" -Wl,--as-needed \
      -Wl,-rpath,"$lib" || return
    for launcher in 'mpirun.openmpi --oversubscribe' mpirun.mpich; do
      # shellcheck disable=SC2086 # words
      timeout 120 $launcher -n 4 "$work/grid_sum" >"$work/said" 2>&1
      grep 'the sum of row 0 is 1' "$work/said" || { cat "$work/said"; return 1; }
    done
  done
}

ended() {
  mkdir "$work/ended"
  TEST_TMPDIR=$work/ended ./test/finalize/finalize_test.sh "$run_mpi" mpich "$lib/libbrigade_blacs.so"
}

# As test/support/run_mpi.sh.
run_mpi=$work/run_mpi
printf '#!/bin/sh\nexec timeout "${TEST_TIMEOUT:-120}" mpirun.mpich -n "$@" </dev/null\n' >"$run_mpi"
chmod +x "$run_mpi"

check "what calls MPI" built
[[ $failed -eq 0 ]] || finish
check "a program of C" program
check "one of Debian's testers" ./test/scalapack/run_testers.py --mpi mpich --preload "$lib/libbrigade_blacs.so" \
  --only xdlu --output results/testers-mpich-small
check "a program without calls of MPI" either
check "the end of MPI" ended
finish
