#!/bin/bash
# The BLACS under MPICH, in brief, by the libraries that one build makes for both families. A program of C and one of
# Debian's testers run, a program that makes no call of MPI under the launchers of both families, and programs that use a
# grid while MPI ends. mpich_test.sh tests all there is for MPICH. The last line counts.
#   mpich_small_test.sh BAZEL-OPTION...    the options of the build before
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
. test/support/checks.sh
export OMP_NUM_THREADS=1 TMPDIR=$work
lib=$work/lib
options=("$@")

built() {
  bazel build "${options[@]}" //patterns/api:libbrigade{.so.1,_mpi_{mpich,openmpi}.so.1} \
    //blacs_shim:libbrigade_blacs{.so.1,_mpich.so.1,_openmpi.so.1} \
    //pblas_shim:libbrigade_pblas_mpich.so.1 //rma_shim:libbrigade_rma_mpich.so.1 && mkdir "$lib" &&
    cp bazel-bin/patterns/api/libbrigade{.so.1,_mpi_mpich.so.1} \
      bazel-bin/blacs_shim/libbrigade_blacs{.so.1,_mpich.so.1} "$lib" &&
    ln -s libbrigade_blacs.so.1 "$lib/libbrigade_blacs.so"
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
  cp bazel-bin/blacs_shim/libbrigade_blacs_openmpi.so.1 bazel-bin/patterns/api/libbrigade_mpi_openmpi.so.1 "$lib" || return
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

check "build" built
[[ $failed -eq 0 ]] || finish
check "a program of C" program
check "one of Debian's testers" ./test/scalapack/run_testers.py --mpi mpich --preload "$lib/libbrigade_blacs.so" \
  --only xdlu --output results/testers-mpich-small
check "a program without calls of MPI" either
check "the end of MPI" ended
finish
