#!/bin/bash
# Table 1 of the AP3000 paper is simulated twice, with equal results, and fitted.
set -euo pipefail
trap 'echo "paper_table_test.sh: line $LINENO ended with status $?" >&2' ERR

cd "${TEST_SRCDIR:-.}/${TEST_WORKSPACE:-.}"
out=${TEST_TMPDIR:-$(mktemp -d)}
machine=transport/machines/ap3000.json

bench/simulated/paper_table "$machine" >"$out/paper.json"
bench/simulated/paper_table "$machine" | cmp - "$out/paper.json"
# A machine a line, lengths only.
tr -d '\n' <"$machine" | bench/simulated/paper_table - >"$out/lengths.json"
/usr/bin/python3 -m bench.simulated.paper_table_test "$out"

/usr/bin/python3 -m bench.simulated.fit_paper bench/simulated/paper_table "$machine" --evaluations 2 >"$out/fit.txt"
grep -q 'held out: median error' "$out/fit.txt"

# Errors are printed.
if bench/simulated/paper_table no_such_file 2>"$out/error.txt"; then exit 1; fi
grep -q no_such_file "$out/error.txt"
if echo '{}' | bench/simulated/paper_table - 2>"$out/error.txt"; then exit 1; fi
grep -q "standard input" "$out/error.txt"
if tr -d '\n' <"$machine" | bench/simulated/paper_table - >/dev/full 2>"$out/error.txt"; then exit 1; fi
grep -q "cannot write standard output" "$out/error.txt"
