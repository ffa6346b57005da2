#!/bin/bash
# LI and the BLACS in one process have one engine.
#   beside_blacs_test.sh RUN_MPI PROGRAM
set -u

export TEST_TIMEOUT=200
# One arena: another thread's would take 64 MiB of addresses at any time.
output=$(MALLOC_ARENA_MAX=1 BRIGADE_STAGING_BYTES=128M "$1" 3 "$2" 2>&1)
[[ $? -eq 0 && $(grep -c ': both$' <<<"$output") -eq 3 ]] || { echo "FAILED: $output"; exit 1; }
