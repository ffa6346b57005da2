#!/bin/bash
# BSPlib by others: programs of LI over BSPonMPI, and on our BSPlib the programs of BSPonMPI's tests, its collectives
# and BSPedupack. Nothing of theirs is kept. Run from the root of the project, when all is built. The last line counts.
#   foreign_bsplib.sh [FOLDER]      where what is built lies; bazel-bin
# BSPONMPI and BSPEDUPACK say where their sources are cloned from.
set -uo pipefail

built=$(realpath "${1:-bazel-bin}")
here=$PWD/test/li
run_mpi=$PWD/test/support/run_mpi.sh
. test/support/checks.sh
export TEST_TIMEOUT=300

clone() {  # NAME SOURCE: false if there is no such source.
  GIT_TERMINAL_PROMPT=0 timeout 120 git clone --quiet --depth 1 "$2" "$work/$1" && return
  skip "$1" "which cannot be cloned from $2"
  return 1
}

our_program() {  # NAME OPTION... FILE...: a program for BSPonMPI, on our library.
  local name=$1
  shift
  mpicc -w -o "$work/$name" "$@" -L"$built/bsp_shim" -l:libbrigade_bsp.so.1 -lm \
    -Wl,-rpath,"$built/bsp_shim" -Wl,--allow-shlib-undefined
}

# A program that announces an error ends with one of our library, or with its own text.
runs() {  # NAME PROCESSES
  local output code=0
  output=$("$run_mpi" "$2" "$work/$1" 2>&1) || code=$?
  echo "$output"
  if grep -q 'wrong: ' <<<"$output"; then return 1; fi
  if grep -q 'an error is due: ' <<<"$output"; then
    [[ $code -ne 0 ]] && grep -qE 'brigade: |Dit is een test' <<<"$output"
  else
    [[ $code -eq 0 ]]
  fi
}

their_test() {  # NAME PROCESSES OPTION... FILE...
  local name=$1 processes=$2
  shift 2
  our_program "$name" -DDLL_PUBLIC= -I"$work/BSPonMPI/include" -I"$work/BSPonMPI/src" \
    -include "$here/foreign_bsplib.h" "$@" "$work/BSPonMPI/test/$name.c" && runs "$name" "$processes"
}

# Counts on the order in which their library brings messages, which the standard leaves open.
beyond=' send_various_tags_1 '

bsponmpi() {
  local name processes
  check "BSPonMPI is built" "$here/build_bsponmpi.sh" "$work/BSPonMPI"
  # By messages: Debian's Open MPI makes no windows for one process, by which it goes by default.
  [[ ! -e $work/BSPonMPI/libbsponmpi.so ]] || check "LI over BSPonMPI" "$here/li_test.sh" "$run_mpi" \
    "$built/test/li/li_cases" BRIGADE_LI_BACKEND=bsp BSPONMPI_A2A_METHOD=msg \
    "BRIGADE_LI_BSP=$work/BSPonMPI/libbsponmpi.so"
  while read -r name processes; do
    [[ $beyond != *" $name "* ]] || continue
    check "their $name on our BSPlib" their_test "$name" "$processes"
  done < <(sed -nE 's/^add_mpi_test\( *([a-z0-9_]+) +([0-9]+) *\) *$/\1 \2/p' \
    "$work/BSPonMPI/CMakeLists.txt")
  for name in scatter_partition gather_neighbour allgather_neighbour alltoall_neighbour bcast_qtree_qp combis; do
    check "their collectives on our BSPlib: $name" their_test "bsc_$name" 6 "$work/BSPonMPI/src/"{bsc,util}.c
  done
}

# Process 0 reads a number, and all print the sum of squares up to it. Begins as the standard defines.
bspedupack() {
  local folder
  folder=$(dirname "$(find "$work/BSPedupack" -name bspinprod.c | head -n 1)")
  echo '#include <brigade/bsp.h>' >"$folder/bsp.h"
  cat >"$folder/begun.c" <<'EOF'
#include <brigade/bsp.h>
#define bsp_init(...) 0
#define main their_main
#include "bspinprod.c"
#undef main
int main(void) {
  bsp_begin(bsp_nprocs());
  bspinprod();
  bsp_end();
  return 0;
}
EOF
  our_program inprod -Iinclude "$folder/begun.c" "$folder/bspedupack.c" || return
  echo 100 >"$work/number"
  "$run_mpi" 4 sh -c "exec '$work/inprod' <'$work/number'" >"$work/inprod.out" 2>&1
  cat "$work/inprod.out"
  [[ $(grep -c 'up to 100\*100 is 338350' "$work/inprod.out") -eq 4 ]]
}

if clone BSPonMPI "${BSPONMPI:-https://github.com/wijnand-suijlen/bsponmpi.git}"; then bsponmpi; fi
if clone BSPedupack "${BSPEDUPACK:-https://github.com/pkrusche/bsponmpi.git}"; then
  check "BSPedupack on our BSPlib" bspedupack
fi
finish
