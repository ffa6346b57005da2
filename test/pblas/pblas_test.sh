#!/bin/bash
# Debian's testers of the level 3 PBLAS with the library preloaded, over the reference BLACS and over ours: on the data
# that they come with, and on harder ones. They count what they count with all products left to the PBLAS.
# Arguments: run_mpi.sh, the library, the BLACS, and mpich if it is that.
set -u

run_mpi=$(realpath "$1")
library=$(realpath "$2")
blacs=$(realpath "$3")
testers=/usr/lib/$(gcc -print-multiarch)/scalapack/${4:-openmpi}-tests/PBLAS
shipped=/usr/share/scalapack/PBLAS
# MPICH's own waits spin: there all goes over our BLACS, so that four ranks have enough of two processors.
stock=$library
[[ ${4-} != mpich ]] || stock=$library:$blacs
failures=0
cd "$TEST_TMPDIR" || exit 1

complain() {
  echo "FAILED: $*"
  tail -n 40 out err
  failures=$((failures + 1))
}

# Products alone, with submatrices, odd blocks, a first block of its own, and all transposes, of which testers leave out
# what a routine does not know. Arguments: the letter of the type; how many grids, their rows and their columns; the
# source of the first block. Testers judge P?SYRK and P?HERK also by a verdict on a B, which these do not have: they read
# it unset, and so what lies on the stack, unless a routine with a B was tested before, as P?GEMM is here.
harder() {
  awk -v grids="$2" -v rows="$3" -v cols="$4" -v source="$5" '
    BEGIN {
      value["TRANSA"] = "\047N\047 \047N\047 \047T\047 \047T\047 \047C\047 \047C\047 \047N\047 \047T\047"
      value["TRANSB"] = "\047N\047 \047T\047 \047N\047 \047T\047 \047N\047 \047C\047 \047C\047 \047C\047"
      value["M"] = "22 30  8 20  3 50 17 40"; value["N"] = "23 29  7 21  3 14 41  8"
      value["K"] = "24 28  9 22  3 39  1 33"
      value["IMB"] = " 3  5  6  3  2  1  9  5"; value["INB"] = " 4  2  6  1  2  7  3  5"
      value["MB"] = " 4  7  2  3  2  5 15 10"; value["NB"] = " 4  3  5  3  1  6  4  9"
      # B and C are distributed otherwise in every second problem.
      other["MB"] = " 4  6  2  5  2  4 15  3"; other["NB"] = " 4  8  5  2  1  9  4  7"
      value["I"] = " 5  1  7  7  1 12  1 11"; value["J"] = " 1  4  7  2  9 12  6  1"
    }
    /value of NB|number of process grids/ && /grids/ { $1 = grids }
    /values of P$/ { $0 = rows " values of P" }
    /values of Q$/ { $0 = cols " values of Q" }
    /number of tests problems/ { $1 = 8 }
    /values of (TRANS|M|N|K)/ && $NF in value { $0 = value[$NF] " values of " $NF }
    /values of [MN]_[ABC]$/ { $0 = "70 70 70 70 70 70 70 70 values of " $NF }
    /values of (IMB|INB|MB|NB|I|J)_?[ABC]$/ {
      name = $NF; sub(/_?[ABC]$/, "", name)
      $0 = (name in other && $NF !~ /A$/ ? other[name] : value[name]) " values of " $NF
    }
    /values of [RC]SRC_[ABC]$/ { s = source; $0 = "0 " s " 0 " s " " s " 0 " s " 0 values of " $NF }
    /put F for no test/ { $2 = $1 ~ /(GEMM|SYRK|HERK)$/ ? "T" : "F" }
    { print }' "$shipped/P${1^^}BLAS3TST.dat" >"P${1^^}BLAS3TST.dat"
}

run() {  # LETTER PRELOADS [VARIABLE=VALUE...]
  rm -f ./*.SUMM
  "$run_mpi" 4 env "LD_PRELOAD=$2" BRIGADE_EXPLAIN=1 "${@:3}" "$testers/${1}pb3tst" >out 2>err ||
    complain "${1}pb3tst ended badly, ${*:2}"
}

# mpirun's tag may stand within a line.
said() {  # FILE...
  sed 's/\[[0-9]*,[0-9]*\]<[a-z]*>://g' "$@" 2>/dev/null
}

# Of each routine: tests, passed, failed, skipped.
counts() {
  said out ./*.SUMM | grep -oE '\|  P[A-Z0-9]+ .*' | tr -s ' ' | sort
}

# Their complaints about wrong arguments, which come first.
complaints() {
  said out | sed '/Error-exit tests completed/q'
}

# With all left to the PBLAS: what `check` compares with until the data are others.
left() {  # LETTER
  run "$1" "$stock" BRIGADE_PBLAS=off
  counts >"counts-$1"
  complaints >"complaints-$1"
  [[ -s counts-$1 ]] || complain "${1}pb3tst counts nothing"
}

# check LETTER WHICH PRELOADS [VARIABLE=VALUE...]: no test fails, as many are counted as with `left`, and all products
# went our way, or none.
check() {
  local letter=$1 which=$2 preloads=$3
  shift 3
  run "$letter" "$preloads" "$@"
  counts | diff "counts-$letter" - || complain "${letter}pb3tst counts otherwise; $preloads $*"
  complaints | diff "complaints-$letter" - || complain "${letter}pb3tst complains otherwise; $preloads $*"
  local failed routine taken passed
  failed=$(counts | awk '{ failed += $(NF - 1) } END { print NR ? failed : -1 }')
  [[ $failed -eq 0 ]] || complain "${letter}pb3tst: $failed tests failed; $preloads $*"
  for routine in P"${letter^^}"{GEMM,SYRK,HERK}; do
    taken=$(said out err | grep -c "$routine .*: by one-sided communication")
    passed=$(counts | awk -v routine="$routine" '$2 == routine { print $(NF - 2) }')
    [[ $taken -eq $([[ $which == all ]] && echo "${passed:-0}" || echo 0) ]] ||
      complain "${letter}pb3tst: $taken of ${passed:-no} $routine taken, not $which; $preloads $*"
  done
}

for letter in d z; do
  cp "$shipped/P${letter^^}BLAS3TST.dat" .
  left "$letter"
  check "$letter" all "$stock" BRIGADE_PBLAS=on
done
check d all "$library:$blacs" BRIGADE_PBLAS=on
for letter in s d c z; do
  harder "$letter" 1 2 2 1
  left "$letter"
  check "$letter" all "$library:$blacs" BRIGADE_PBLAS=on
done
harder d 3 "1 4 2" "4 1 1" 0
left d
check d all "$stock" BRIGADE_PBLAS=on BRIGADE_TRANSPORT=tcp BRIGADE_IFACE=lo
# All of them are small.
check d none "$stock" BRIGADE_PBLAS=auto

exit $((failures > 0))
