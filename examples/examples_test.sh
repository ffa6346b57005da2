#!/bin/bash
# Runs the commands in the head of an example unchanged, and checks that they print the lines after the arrows.
#   examples_test.sh EXAMPLE RUN_MPI LIBRARY.so...      in a folder that has examples/ and include/
set -euo pipefail

example=$1
run_mpi=$(realpath "$2")
shift 2
here=$TEST_TMPDIR/here
for library in "$@"; do
  mkdir -p "$here/bazel-bin/$(dirname "$library")"
  ln -s "$(realpath "$library")" "$here/bazel-bin/$library"
done
for folder in examples include; do
  ln -s "$(realpath "$folder")" "$here/$folder"
done
cd "$here"

# The lines before the code, without what makes them comments.
head=$(awk '/^(#include|program )/ { exit } { sub(/^!/, ""); sub(/ \*\/$/, ""); print }' "$example")
commands=$(awk '/^   (mpi|gcc |for )/ || more { print; more = /\\$/ }' <<<"$head")
expected=$(sed -n 's/^ *-> //p' <<<"$head")
runs=$(grep -cE '^   (mpirun -n [0-9]* --oversubscribe|for rank in) ' <<<"$commands" || true)
if [[ $runs -eq 0 || -z $expected ]]; then
  echo "$example: its head has no commands, or does not say what they print"
  exit 1
fi

mpirun() { "$run_mpi" "$2" "${@:4}"; }  # -n RANKS --oversubscribe PROGRAM...
echo "$commands"
export -f mpirun
export run_mpi
output=$(bash -ec "$commands" 2>&1) || { echo "$output"; exit 1; }
echo "$output"
while read -r line; do
  found=$(grep -cF "$line" <<<"$output" || true)
  if [[ $found -ne $runs ]]; then
    echo "$example: '$line' is printed by $found of $runs runs"
    exit 1
  fi
done <<<"$expected"
