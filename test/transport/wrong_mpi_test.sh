#!/bin/bash
# Every library reports that the MPI of the process is of the other family before it calls it. Arguments: the family
# that the libraries are for, the other, its library; programs whose first call is one of libbrigade.so, of
# libbrigade_bsp.so and of libbrigade_li.so; libbrigade_blacs.so, libbrigade_pblas.so, libbrigade_rma.so.
set -u
unset BRIGADE_TRANSPORT  # the texts below are those of auto

own=$1
other=$2
library=$3
failures=0

says() {  # TEXT COMMAND...
  local text=$1 out
  shift
  out=$(timeout 200 env "$@" 2>&1)
  grep -q "$text" <<<"$out" && return
  echo "FAILED: $* does not say '$text' but"
  echo "$out"
  failures=$((failures + 1))
}

# One build makes the parts for both families, in one folder: here only those of the one lie beside a library.
case $own in
  MPICH) family=mpich others=openmpi ;;
  *) family=openmpi others=mpich ;;
esac
alone=$TEST_TMPDIR/alone
mkdir -p "$alone"
for copied in "$7" "$8" "$9"; do
  real=$(realpath "$copied")
  cp "$real" "${real%.so}_$family.so.1" "$(dirname "$real")"/libbrigade{.so.1,_mpi_"$family".so.1} "$alone"
done

# Programs of the one in which the other takes all calls.
missing="this library was not built for $other, which the program uses"
says 'unavailable: .*MPI is not initialised' "$4"
says "$missing" python3 -c '
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL).MPI_Init(None, None)
brigade = ctypes.CDLL(sys.argv[2])
brigade.brigade_error_text.restype = ctypes.c_char_p
assert brigade.brigade_engine_create(None, ctypes.byref(ctypes.c_void_p())) != 0
print(brigade.brigade_error_text().decode())' "$library" "$alone/libbrigade.so.1"
refusal="this library was built for $own, but the program uses $other [vV]"
says "^brigade: libbrigade_bsp.so: $refusal" LD_PRELOAD="$library" "$5"
says "^brigade: libbrigade_li.so: $refusal" LD_PRELOAD="$library" "$6" all

# Programs of the other, with these preloaded.
refused() {  # LIBRARY FUNCTION
  says "^brigade: $(basename "$1"): $missing" LD_PRELOAD="$alone/$(basename "$1")" python3 -c '
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
ctypes.CDLL(None)[sys.argv[2]]()' "$library" "$2"
}
refused "$7" Cblacs_pinfo
refused "$8" pdgemm_
refused "$9" MPI_Alloc_mem
says "^brigade: libbrigade_blacs.so: $missing" LD_PRELOAD="$alone/libbrigade_blacs.so" \
  "/usr/lib/$(gcc -print-multiarch)/scalapack/$others-tests/BLACS/xCbtest"

[ $failures -eq 0 ]
