#!/bin/bash
# The commands of bench/run.sh --scale, on few ranks: simulated twice, in part, with equal results; and reported.
set -euo pipefail
trap 'echo "scale_report_test.sh: line $LINENO ended with status $?" >&2' ERR

cd "${TEST_SRCDIR:-.}/${TEST_WORKSPACE:-.}"
out=${TEST_TMPDIR:-$(mktemp -d)}
export MPLCONFIGDIR=$out
machine=transport/machines/fat_nodes_100g.json

files=()
for pattern in broadcast reduce multi_broadcast multi_reduce; do
  bench/simulated/scale_table "$machine" "$pattern" --ranks 128 --messages 2000 >"$out/$pattern.jsonl"
  # On fewer ranks the same cells, the first of these.
  bench/simulated/scale_table "$machine" "$pattern" --ranks 32 --messages 2000 >"$out/again.jsonl"
  head -n "$(wc -l <"$out/again.jsonl")" "$out/$pattern.jsonl" | cmp - "$out/again.jsonl"
  files+=("$out/$pattern.jsonl")
done
/usr/bin/python3 -m bench.report.scale "${files[@]}" --plot "$out/scale.svg" --summary "$out/summary.json" >"$out/scale.txt"
/usr/bin/python3 -m bench.simulated.scale_report_test "$out"

# Errors are printed.
if bench/simulated/scale_table "$machine" reduce --ranks 8 --messages 1 >/dev/full 2>"$out/error.txt"; then exit 1; fi
grep -q "cannot write standard output" "$out/error.txt"
refuses() { # TEXT argument...
  local text=$1
  shift
  if "$@" >/dev/null 2>"$out/error.txt"; then exit 1; fi
  grep -q -- "$text" "$out/error.txt"
}
refuses no_such_file bench/simulated/scale_table no_such_file reduce --messages 1
refuses spread bench/simulated/scale_table "$machine" spread --messages 1
refuses --ranks bench/simulated/scale_table "$machine" reduce --ranks 4 --messages 1
refuses --messages bench/simulated/scale_table "$machine" reduce
refuses --rank bench/simulated/scale_table "$machine" reduce --messages 1 --rank 8
: >"$out/empty"
refuses "no cells" /usr/bin/python3 -m bench.report.scale "$out/empty"
