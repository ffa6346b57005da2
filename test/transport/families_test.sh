#!/bin/bash
# No library of ours names an MPI that it needs: preloaded, each is loaded by any program, and finds the MPI of one that
# has one. Arguments: run_mpi.sh, the program one_mpi, libbrigade_blacs.so, libbrigade_pblas.so, libbrigade_rma.so, and
# what else is to name none.
set -u

run_mpi=$1
one_mpi=$2
shift 2
blacs=$(realpath "$1") pblas=$(realpath "$2") rma=$(realpath "$3")
failures=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
out=$TEST_TMPDIR/out

fail() {
  echo "FAILED: $*; got:"
  cat "$out"
  failures=$((failures + 1))
}

prints() {  # TEXT...: what was run has ended well, and its output has these.
  local code=$? text
  [ $code -eq 0 ] || fail "exit code $code"
  for text; do grep -q -- "$text" "$out" || fail "no '$text'"; done
}

for library; do
  readelf --dynamic "$library" >"$out" || fail "$library"
  ! grep 'NEEDED.*libmpi' "$out" || fail "$library names an MPI"
done

# A program without MPI, also where all is bound at its start.
for now in '' 1; do
  LD_PRELOAD="$blacs $pblas $rma" LD_BIND_NOW=$now bash -c 'echo fine' >"$out" 2>&1
  prints '^fine$'
  [ "$(wc -l <"$out")" = 1 ] || fail "a shell says more"
done

# In either order, and the launcher loads them, too.
for preload in "$blacs $pblas $rma" "$rma $pblas $blacs"; do
  LD_PRELOAD=$preload BRIGADE_LOG=info "$run_mpi" 2 "$one_mpi" >"$out" 2>&1
  prints 'BLACS over transport' 'carried over' 'mapped: '
done

# An MPI that only its user sees, as in Python.
mpi=$(sed -n '0,/.*mapped: /s///p' "$out")  # of the first
LD_PRELOAD=$blacs timeout 200 python3 -c '
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
rank, ranks = ctypes.c_int(-1), ctypes.c_int(-1)
blacs = ctypes.CDLL(None)
blacs.Cblacs_pinfo(ctypes.byref(rank), ctypes.byref(ranks))
blacs.Cblacs_exit(0)
print(rank.value, ranks.value)' "$mpi" >"$out" 2>&1
prints '^0 1$'

# Our names initialise an MPI that was opened with RTLD_LOCAL, and all libraries find it.
for library in "$blacs" "$pblas" "$rma"; do
  for name in MPI_Init PMPI_Init; do
    LD_PRELOAD=$library timeout 200 python3 -c '
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
process = ctypes.CDLL(None)
error, is_initialized = process[sys.argv[2]](None, None), ctypes.c_int(0)
process.MPI_Initialized(ctypes.byref(is_initialized))
process.MPI_Finalize()
print(error, is_initialized.value)' "$mpi" $name >"$out" 2>&1
    prints '^0 1$'
  done
done

# A library that has the names of MPI and no messages is left alone.
echo 'int MPI_Init(int* a, char*** b) { return a == 0 && b == 0 ? 0 : 1; }' >"$TEST_TMPDIR/serial.c"
gcc -shared -fPIC -o "$TEST_TMPDIR/libserial.so" "$TEST_TMPDIR/serial.c" || fail "compiling"
LD_PRELOAD="$blacs $pblas $rma $TEST_TMPDIR/libserial.so" timeout 200 python3 -c '
import ctypes
print(ctypes.CDLL(None).MPI_Init(None, None), "libmpi" in open("/proc/self/maps").read())' >"$out" 2>&1
prints '^0 False$'

# Large counts, which Open MPI 4 does not have.
case $mpi in
  *libmpi.so.40*)
    LD_PRELOAD=$rma timeout 200 python3 -c '
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
ctypes.CDLL(None).MPI_Put_c()' "$mpi" >"$out" 2>&1
    [ $? -eq 1 ] || fail "MPI_Put_c"
    grep -q '^brigade: libbrigade_rma.so: there is no MPI_Put_c in /.*libbrigade_rma_openmpi.so.1, which' "$out" ||
      fail "no text"
    ;;
esac

# Without any it takes the MPI that it is installed for; if these are two, that of the launcher.
job_size=$TEST_TMPDIR/job_size.py
cat >"$job_size" <<'EOF'
import ctypes
rank, ranks = ctypes.c_int(-1), ctypes.c_int(-1)
ctypes.CDLL(None).Cblacs_pinfo(ctypes.byref(rank), ctypes.byref(ranks))
ctypes.CDLL(None).Cblacs_exit(0)
print(rank.value, "of", ranks.value)
EOF
alone() {  # LIBRARY: no launcher
  LD_PRELOAD=$1 timeout 200 python3 "$job_size" >"$out" 2>&1
}
launched() {  # LIBRARY
  "$run_mpi" 2 env LD_PRELOAD="$1" python3 "$job_size" >"$out" 2>&1
  prints '0 of 2$' '1 of 2$'
}
needs_launcher() {  # LIBRARY
  ! alone "$1" || fail "two MPIs to choose from"
  grep -q '^brigade: libbrigade_blacs.so: .* MPICH loaded, and the environment has no variables of a launcher' "$out" ||
    fail "no text"
}
launched "$blacs"
if [ -e "${blacs%.so*}_openmpi.so.1" ] && [ -e "${blacs%.so*}_mpich.so.1" ]; then
  needs_launcher "$blacs"
else
  alone "$blacs"
  prints '^0 of 1$'
  # As if it were installed for both. The part for the other family is not opened.
  both=$TEST_TMPDIR/both
  mkdir "$both"
  cp -L "${blacs%/*}"/libbrigade*.so.1 "$both"
  for part in mpi_openmpi mpi_mpich blacs_openmpi blacs_mpich; do touch "$both/libbrigade_$part.so.1"; done
  launched "$both/libbrigade_blacs.so.1"
  needs_launcher "$both/libbrigade_blacs.so.1"
fi

[ $failures -eq 0 ]
