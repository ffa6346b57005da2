#!/bin/bash
# Programs with names of earlier versions do not compile, and the compiler's message has the new name.
set -u
failures=0

says() {  # LANGUAGE NEW-NAME CODE: the message of the compiler has the new name
  local header=brigade/multiply.h out
  [ "$1" = c ] || header=brigade/brigade.hpp
  if out=$(printf '#include "%s"\nint main(void) { %s; return 0; }\n' "$header" "$3" |
    gcc -x "$1" -Iinclude -fsyntax-only - 2>&1); then
    echo "FAILED: this compiles: $3"
  elif ! grep -q "$2" <<<"$out"; then
    echo "FAILED: no '$2' in the message for '$3':"
    echo "$out"
  else
    return
  fi
  failures=$((failures + 1))
}

says c brigade_group_from_mpi 'brigade_group* g; brigade_group_create(0, 0, 1, 1, &g)'
says c brigade_bcast 'brigade_run(0, 0, 0)'
says c brigade_bcast_start 'brigade_start(0, 0, 0)'
says c calls_h 'brigade_call call'
says c brigade_type 'brigade_element element'
says c brigade_op 'brigade_accumulate_op op'
says c BRIGADE_AUTO 'int shape = BRIGADE_FREE'
says c BRIGADE_RING_ALLREDUCE 'int shape = BRIGADE_DEALT'
says c brigade_allgatherv 'int pattern = BRIGADE_MULTI_BROADCAST'
says c BRIGADE_DOUBLE 'int element = BRIGADE_ELEMENT_DOUBLE'
says c BRIGADE_MAX_LOCATION 'int op = BRIGADE_ACCUMULATE_MAX_LOCATION'
says c BRIGADE_MULTIPLY_DIAGONAL 'int order = BRIGADE_MULTIPLY_OWN_FIRST'
says c++ brigade::Engine 'brigade::direct::Engine engine'
says c++ brigade::Group 'brigade::direct::Group group'
says c++ brigade::Allocate 'brigade::direct::Allocate<double>(3)'
says c++ FromMpi 'brigade::Engine e; brigade::Group g; g.Create(e, 0, 1, 1)'

# Each new name is declared.
while read -r name; do
  grep -qwR --exclude=renamed.h "$name" include/brigade && continue
  echo "FAILED: renamed.h names $name, which no header declares"
  failures=$((failures + 1))
done < <(grep -oE '__is_now__\w+' include/brigade/renamed.h | sed 's/__/\n/g' | grep -iE '^brigade_')

# A program with today's names compiles.
if ! printf '#include "brigade/multiply.h"\nint main(void) { return BRIGADE_AUTO; }\n' |
  gcc -std=c99 -pedantic -Wall -Wextra -Werror -x c -Iinclude -fsyntax-only -; then
  failures=$((failures + 1))
fi
[ $failures -eq 0 ]
