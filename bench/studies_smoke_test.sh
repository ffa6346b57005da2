#!/bin/bash
# A tiny run of every study that bench/run.sh runs, and of its pages: each verifies its results. No figure is judged.
set -euo pipefail
trap 'echo "studies_smoke_test.sh: line $LINENO ended with status $?" >&2' ERR

cd "${TEST_SRCDIR:-.}/${TEST_WORKSPACE:-.}"
out=${TEST_TMPDIR:-$(mktemp -d)}
export MPLCONFIGDIR=$out
run_mpi=test/support/run_mpi.sh

# The suites of the LI paper, and their pages.
for suite in 'as_suite --ints 1,100' 'mult_suite -n 32' 'rdx_suite --keys 5000' 'rdx_suite --keys 5000 --skewed'; do
  read -r program arguments <<<"$suite"
  for backend in windows mpi_rma mpi_send bsp; do
    # shellcheck disable=SC2086 # a list of words
    BRIGADE_LI_BACKEND=$backend $run_mpi 4 "bench/studies/$program" $arguments --seconds 0.01 --min-iterations 2 \
      --json "$out/study_${program%_suite}_shm.jsonl"
  done
done
$run_mpi 4 bench/studies/as_suite --no-tests --ints 64 --seconds 0.01 --min-iterations 2 --json "$out/study_mult_shm.jsonl"
for suite in 'mult_suite -n 32' 'rdx_suite --keys 5000'; do
  read -r program arguments <<<"$suite"
  # shellcheck disable=SC2086 # a list of words
  $run_mpi 1 "bench/studies/$program" $arguments --seconds 0.01 --min-iterations 2 \
    --json "$out/study_${program%_suite}_shm.jsonl"
done
mkdir -p "$out/suites"
mv "$out"/study_*.jsonl "$out/suites"
for study in as mult rdx; do
  bench/simulated/superstep_table "$study" transport/machines/shaped_cluster.json --ranks 4 \
    >"$out/suites/study_${study}_simulated.jsonl"
  /usr/bin/python3 -m bench.report.study "$study" "$out/suites"
done
# The programs of the put/get study, and their pages.
mkdir -p "$out/putget"
for study in 'cg --classes S' 'mg --classes S' 'summa -n 64 --widths 16' 'md --atoms 256 --steps 2'; do
  read -r name arguments <<<"$study"
  # shellcheck disable=SC2086 # a list of words
  $run_mpi 2 "bench/studies/putget/${name}_study" $arguments --seconds 0.01 --min-iterations 2 --max-iterations 2 \
    --json "$out/putget/study_${name}_shm.jsonl"
  /usr/bin/python3 -m bench.report.study "$name" "$out/putget"
done
# SRUMMA's, and its page.
mkdir -p "$out/srumma"
srumma=(--seconds 0.01 --min-iterations 2 --max-iterations 2 --json "$out/srumma/study_srumma_shm.jsonl")
$run_mpi 2 bench/studies/srumma/overlap_study --bytes 8K,64K "${srumma[@]}"
$run_mpi 4 bench/studies/srumma/product_study -n 64 --block 16 --link-mbytes 47.5 "${srumma[@]}"
for preload in 'our BLACS:blacs_shim/libbrigade_blacs.so' 'our PBLAS:pblas_shim/libbrigade_pblas.so'; do
  LD_PRELOAD=$PWD/${preload#*:} BRIGADE_PBLAS=on $run_mpi 4 bench/studies/srumma/product_study -n 64 --block 16 \
    --variants diagonal,pdgemm,dgemm --label "${preload%:*}" "${srumma[@]}"
done
$run_mpi 4 bench/studies/srumma/product_study -n 64 --block 16 --variants diagonal,ga_dgemm,dgemm \
  --label 'Global Arrays' "${srumma[@]}"
$run_mpi 4 bench/studies/putget/summa_study -n 64 --widths 16 "${srumma[@]}"
bench/simulated/srumma_table transport/machines/fat_nodes_100g.json --ranks 256 --blocks 128 \
  >"$out/srumma/study_srumma_simulated.jsonl"
/usr/bin/python3 -m bench.report.study srumma "$out/srumma"
# Factorizations with our PBLAS, and their page.
mkdir -p "$out/factorizations"
for products in off on; do
  LD_PRELOAD=$PWD/pblas_shim/libbrigade_pblas.so BRIGADE_PBLAS=$products \
    $run_mpi 2 bench/scalapack/scalapack_timing -n 60 --eigen-n 40 --nb 8 --grid 2x1 --repetitions 1 \
    --label "reference BLACS, $products" --json "$out/factorizations/study_factorizations_shm.jsonl"
done
/usr/bin/python3 -m bench.report.study factorizations "$out/factorizations"
/usr/bin/python3 -m bench.studies_smoke_test "$out"
