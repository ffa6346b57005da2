#!/bin/bash
# Programs with names of the interface before version 1.0 do not compile, and the message has the new name.
set -u
failures=0

check() {  # LANGUAGE NEW-NAME CODE
  local header=brigade/multiply.h messages
  [[ $1 == c ]] || header=brigade/brigade.hpp
  if messages=$(printf '#include "%s"\nint main(void) { %s; return 0; }\n' "$header" "$3" |
    gcc -x "$1" -Iinclude -fsyntax-only - 2>&1); then
    echo "FAILED: this compiles: $3"
  elif [[ ! $messages =~ "the name is now "[^$'\n']*"$2" ]]; then
    printf "FAILED: no '%s' in the message for '%s':\n%s\n" "$2" "$3" "$messages"
  else
    return
  fi
  failures=$((failures + 1))
}

check c brigade_group_from_mpi 'brigade_group* g; brigade_group_create((brigade_engine*)0, 0, 1, 1, &g)'
check c brigade_bcast 'brigade_run((brigade_group*)0, 0, 0)'
check c brigade_bcast_start 'brigade_start((brigade_group*)0, 0, 0)'
check c brigade_local_count 'brigade_dealt_count(5, 1, 0, 1, 0)'
check c brigade_call_options 'brigade_call call'
check c brigade_bcast 'brigade_pattern pattern'
check c brigade_topology 'brigade_shape shape'
check c brigade_type 'brigade_element element'
check c brigade_op 'brigade_accumulate_op op'
check c BRIGADE_AUTO 'int shape = BRIGADE_FREE'
check c BRIGADE_RING_ALLREDUCE 'int shape = BRIGADE_DEALT'
check c brigade_allgatherv 'int pattern = BRIGADE_MULTI_BROADCAST'
check c BRIGADE_DOUBLE 'int element = BRIGADE_ELEMENT_DOUBLE'
check c BRIGADE_MAX_LOCATION 'int op = BRIGADE_ACCUMULATE_MAX_LOCATION'
check c BRIGADE_MULTIPLY_DIAGONAL 'int order = BRIGADE_MULTIPLY_OWN_FIRST'
check c++ brigade_bcast 'brigade_run(0, 0, 0)'
check c++ brigade_call_options 'brigade_call call'
check c++ brigade_topology 'brigade_shape shape'
check c++ BRIGADE_AUTO 'int shape = BRIGADE_FREE'
check c++ brigade::Engine 'brigade::direct::Engine engine'
check c++ brigade::Group 'brigade::direct::Group group'
check c++ brigade::Allocate 'brigade::direct::Allocate<double>(3)'
check c++ FromMpi 'brigade::Engine e; brigade::Group g; g.Create(e, 0, 1, 1)'

# A new name in a message must be a name of a header.
names=0
while read -r name; do
  names=$((names + 1))
  grep -qwR --exclude=renamed.h "${name#brigade::}" include/brigade && continue
  echo "FAILED: renamed.h has the new name $name, which no header declares"
  failures=$((failures + 1))
done < <(gcc -E -P -Iinclude -include brigade/multiply.h -x c++ /dev/null | grep -o 'is now .*")' |
  grep -oE '(brigade_|brigade::|BRIGADE_)("\s*")?\w+' | tr -d '" ' | sort -u)
[[ $names -ge 60 ]] || { echo "FAILED: renamed.h has $names new names"; failures=$((failures + 1)); }

# A program with the names of today compiles.
for language in 'c -std=c99' 'c++ -std=c++17'; do
  # shellcheck disable=SC2086  # the language and its standard are two words
  printf '#include "brigade/multiply.h"\nint main(void) { return BRIGADE_AUTO; }\n' |
    gcc -pedantic -Wall -Wextra -Werror -x $language -Iinclude -fsyntax-only - || failures=$((failures + 1))
done
[[ $failures -eq 0 ]]
