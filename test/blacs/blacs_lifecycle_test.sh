#!/bin/bash
# Ways to start and end a BLACS program, and what it prints about itself. Arguments: run_mpi.sh, the
# program blacs_cases.
set -u

run_mpi=$1
cases=$2
failures=0
out=$TEST_TMPDIR/out

fail() {
  echo "FAILED over $BRIGADE_TRANSPORT: $*; got:"
  cat "$out"
  failures=$((failures + 1))
}

# run CASE [VARIABLE=VALUE...]: must succeed.
run() {
  local name=$1 code
  shift
  TEST_TIMEOUT=200 "$run_mpi" 2 env "$@" "$cases" "$name" > "$out" 2>&1
  code=$?
  [ $code -eq 0 ] || fail "$name: exit code $code"
  # Other jobs of this user may have locked all the memory that may be. A container may have no io_uring.
  sed -i '/staging memory is not registered/d; /plain sockets are used instead/d' "$out"
}

# lines COUNT TEXT: so many lines of the last run match.
lines() {
  [ "$(grep -c -- "$2" "$out")" = "$1" ] || fail "expected $1 lines with '$2'"
}

# statistics FILE CONDITION: in Python, of the file that the last run wrote.
statistics() {
  python3 - "$TEST_TMPDIR/$1" <<EOT || fail "$1: not $2"
import json, sys
j = json.load(open(sys.argv[1]))
ranks = j["ranks"]
def row(name):
    return next(row for row in j["routines"] if row["routine"] == name)
sys.exit(not ($2))
EOT
}

for BRIGADE_TRANSPORT in shm mpi tcp sockets; do
  export BRIGADE_TRANSPORT

  run blacs_exit
  lines 1 'received intact'
  lines 2 'finalized 1'
  lines 0 brigade

  run mpi_finalize
  lines 1 'received intact'

  run exit_after_finalize
  lines 2 "done"

  run exit_only
  lines 2 'finalized 1'

  run again
  lines 3 'received intact'

  run callbacks
  lines 4 'another grid ends'
  lines 4 'a grid that ends is no context'
  lines 2 'a new grid is used'

  # Messages without a receive do not keep ranks from leaving.
  run exit_unreceived
  run finalize_unreceived
  if [ "$BRIGADE_TRANSPORT" != mpi ]; then
    run exit_unreceived_long
    run finalize_unreceived_long
    run exit_unreceived_one
    run exit_unreceived_again
    lines 1 'received intact'
  fi

  run free_handle_warns
  lines 2 "BLACS WARNING 'free_blacs_system_handle: no system context for handle 66"
  lines 2 BLACS
  lines 2 "done"

  run turns BRIGADE_LOG=info
  lines 1 ":brigade [0-9.]*: .*transport $BRIGADE_TRANSPORT.*staging memory"

  run without_rank_zero BRIGADE_LOG=info
  lines 1 ":brigade [0-9.]*: .*transport $BRIGADE_TRANSPORT"

  # The child neither prints nor drains nor disturbs its parent.
  run fork BRIGADE_STATS=1
  lines 2 'child 0'
  lines 1 'brigade statistics'

  # The counters do not depend on the transport, except for the time in MPI.
  case $BRIGADE_TRANSPORT in tcp | sockets) continue ;; esac

  run turns BRIGADE_STAT=1 BRIGADE_TRANSPROT=mpi
  lines 1 'BRIGADE_STAT is set, .* BRIGADE_STATS$'
  lines 1 'BRIGADE_TRANSPROT is set, .* BRIGADE_TRANSPORT$'

  run turns BRIGADE_STATS=1
  lines 1 'brigade statistics summed over 2 ranks'
  lines 1 'brigade routine .* waiting s *least *most$'
  # Of two ranks the one has waited least, and the other most; each figure is rounded.
  sed -n "s/.*brigade dgerv2d *' '//p" "$out" |
    awk '{ rest = $4 - $5 - $6; exit !(NF == 6 && $5 <= $6 && rest < 2e-6 && rest > -2e-6) }' ||
    fail "least and most are not of the two ranks"
  lines 1 "brigade dgesd2d  *' '  *10  *80 "
  lines 1 "brigade dgerv2d  *' '  *10  *80 "
  lines 1 'brigade staging high water'

  run turns BRIGADE_STATS=ranks
  lines 1 'brigade statistics of rank 0'
  lines 1 'brigade statistics of rank 1'
  lines 2 "brigade dgesd2d  *' '  *5  *40 "

  # The statistics as JSON: alone, summed with figures of single ranks, and per rank.
  run turns BRIGADE_STATS_FILE="$TEST_TMPDIR/stats.json"
  lines 0 'brigade statistics'
  statistics stats.json 'ranks == 2 and "rank" not in j'
  statistics stats.json 'row("dgesd2d")["calls"] == 10 and row("dgesd2d")["bytes"] == 80'
  statistics stats.json 'row("dgesd2d")["least_of_a_rank"]["calls"] == 5 == row("dgesd2d")["most_of_a_rank"]["calls"]'
  statistics stats.json 'row("dgesd2d")["sizes"] == [{"from_bytes": 8, "calls": 10}]'
  statistics stats.json 'j["memory"]["most_of_a_rank"].keys() == j["memory"]["least_of_a_rank"].keys()'
  run turns BRIGADE_STATS=ranks BRIGADE_STATS_FILE="$TEST_TMPDIR/stats.json"
  lines 2 'brigade statistics of rank'
  statistics stats.1.json 'j["rank"] == 1 and row("dgesd2d")["calls"] == 5'
  run turns BRIGADE_STATS_FILE=/nowhere/stats.json
  lines 1 'brigade: BRIGADE_STATS_FILE: cannot write /nowhere/stats.json: No such file or directory'

  # The time in MPI, of all ranks, if it is counted: each grid takes some.
  run turns BRIGADE_STATS=1
  lines 0 'brigade inside MPI'
  run turns BRIGADE_STATS=1 BRIGADE_STATS_MPI=1 BRIGADE_STATS_FILE="$TEST_TMPDIR/stats.json"
  lines 1 'brigade inside MPI [0-9.]* s in [1-9][0-9]* calls of its own'
  statistics stats.json 'j["mpi"]["seconds"] > j["mpi"]["most_of_a_rank"]["seconds"] > 0'

  run again BRIGADE_STATS=1
  lines 1 "brigade dgesd2d  *' '  *3  *3145728 "

  run lonely BRIGADE_STATS=1
  lines 1 'brigade statistics of rank 0'
  lines 1 'brigade statistics of rank 1'
  lines 2 "brigade dgebs2d  *'I'  *1  *8 "
  lines 2 "brigade dgsum2d  *' '  *1  *8 "
  lines 2 "brigade dgamx2d  *' '  *1  *8 "
  lines 2 "brigade blacs_barrier  *' '  *1  *0 "

  # A rank that ends the job leaves its own counts.
  TEST_TIMEOUT=200 "$run_mpi" 2 env BRIGADE_STATS=1 BRIGADE_STATS_FILE="$TEST_TMPDIR/stats.json" "$cases" abort \
    > "$out" 2>&1 && fail "abort: exit code 0"
  lines 1 'brigade statistics of rank 1, which ended the job'
  # The other rank may notice its end before the launcher ends it, and then leaves its counts, too.
  grep -q 'brigade left 1 contexts, ' "$out" || fail "no rank says what it left"
  statistics stats.1.json 'j["rank"] == 1 and j["aborted"] and ranks == 2 and j["left"]["contexts"] == 1'
done

# A send does not wait for more than a million messages without a receive.
for BRIGADE_TRANSPORT in shm tcp; do
  run flood
  lines 2 '1200000 of 1200000 messages are right'
  lines 2 'a message takes little'
done

# Over MPI, as in MPI_Finalize, the end waits for a long message without a receive, and prints a line about it.
BRIGADE_TRANSPORT=mpi
for name in exit_unreceived_long finalize_unreceived_long; do
  TEST_TIMEOUT=200 BRIGADE_REPORT_SECONDS=1 test/support/run_until.sh "$run_mpi" 2 \
    'returned sends, waiting for rank [01] to receive what was sent to it' 2 "$cases" $name > "$out" ||
    fail "$name: does not say that it waits for both ranks"
done

# Both ranks are on one host.
BRIGADE_TRANSPORT=auto
run turns BRIGADE_LOG=info
lines 1 ':brigade [0-9.]*: .*transport shm'

[ $failures -eq 0 ]
