#!/bin/bash
# Every library says that the MPI of the process is of the other family before it calls it. Arguments: programs whose
# first call is one of libbrigade.so, of libbrigade_bsp.so and of libbrigade_li.so.
set -u

failures=0

says() {  # TEXT COMMAND...
  local text=$1 out
  shift
  out=$(timeout 60 env "$@" 2>&1)
  grep -q "$text" <<<"$out" && return
  echo "FAILED: $* does not say '$text' but"
  echo "$out"
  failures=$((failures + 1))
}

says 'unavailable: .*MPI is not initialised' "$1"
says 'unavailable: .*this library was not built for MPICH, which the program uses' LD_PRELOAD=libmpich.so.12 "$1"
refusal='this library was built for Open MPI, but the program uses MPICH Version'
says "^brigade: libbrigade_bsp.so: $refusal" LD_PRELOAD=libmpich.so.12 "$2"
says "^brigade: libbrigade_li.so: $refusal" LD_PRELOAD=libmpich.so.12 "$3" all

[ $failures -eq 0 ]
