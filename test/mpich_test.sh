#!/bin/bash
# The libraries for MPICH: programs of C and Fortran, Debian's testers, MKL's ScaLAPACK and benchmarks run on them; a
# program of Open MPI is refused. The last line counts.
#   mpich_test.sh [--only REGEX] BAZEL-OPTION...    of checks those whose titles match; the options of the build before
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
. test/support/checks.sh
export OMP_NUM_THREADS=1 TMPDIR=$work
if [[ ${1-} == --only ]]; then
  only="^build$|$2"
  shift 2
fi

options=("$@")
mpich=("$@" --config=mpich)
check "build" bazel build "${mpich[@]}" //blacs_shim:libbrigade_blacs{,64}.so //pblas_shim:libbrigade_pblas{,64}.so \
  //rma_shim:libbrigade_rma.so //bench:brigade_bench //test/blacs:blacs_c_header_test \
  //test/blacs:blacs64_c_header_test //test/blacs:blacs_cases //test/rma:rma_{cases,refusals,states} \
  //test/transport:one_mpi //test/{blacs,bsp,li,pblas,rma}:waiting_calls \
  //test/api:first_call //test/pblas:differential //test/pblas:errors_cases //test/li:li_{cases,misuse} \
  //test/bsp:{bsp,misuse,start}_cases //bench/studies:suites //bench/studies/putget:studies
[[ $failed -eq 0 ]] || finish
built=$(bazel info "${mpich[@]}" bazel-bin)
shim=$built/blacs_shim
pblas=$built/pblas_shim/libbrigade_pblas.so
rma=$built/rma_shim/libbrigade_rma.so

job() { timeout 300 mpirun.mpich -n "$@"; }

# As test/support/run_mpi.sh.
run_mpi=$work/run_mpi
cat >"$run_mpi" <<'EOF'
#!/bin/sh
timeout "${TEST_TIMEOUT:-300}" mpirun.mpich -n "$@" </dev/null
code=$?
[ $code -ne 124 ] || echo "timed out" >&2
exit $code
EOF
chmod +x "$run_mpi"
# run_mpi.sh with lines that begin with the number of the process.
run_mpi_marked=$run_mpi-marked
sed 's/mpirun.mpich/& -prepend-rank/' "$run_mpi" >"$run_mpi_marked"
chmod +x "$run_mpi_marked"

fortran() {  # LIBRARY COMPILER-OPTION...
  local library=$1
  shift
  gfortran -Wall -Werror "$@" -o "$work/fortran" test/blacs/blacs_fortran_test.f90 -L"$shim" -l"$library" \
    -Wl,-rpath,"$shim" && job 4 "$work/fortran"
}

testers() { ./test/scalapack/run_testers.py --mpi mpich --preload "$@"; }  # LIBRARIES ARGUMENT...

# All windows of the program are carried.
carried() {  # RANKS LIBRARY PROGRAM...
  local ranks=$1 library=$2
  shift 2
  echo "$*"
  rm -rf "$work/with" && mkdir "$work/with"
  job "$ranks" -outfile-pattern "$work/with/%r" env LD_PRELOAD="$library" BRIGADE_LOG=info "$@" 2>"$work/log" ||
    { cat "$work/log"; return 1; }
  grep "carried over shm" "$work/log" && ! grep "left to MPI" "$work/log"
}

# Each of its ranks prints the same without the library. Lines of several may get mixed up on one stdout.
like_stock() {  # RANKS LIBRARY PROGRAM...
  rm -rf "$work/without" && mkdir "$work/without"
  carried "$@" && job "$1" -outfile-pattern "$work/without/%r" "${@:3}" && diff -r "$work/without" "$work/with"
}

one_sided() {
  local name cases=$built/test/rma/rma_cases
  for name in fence post lock types attributes requests dynamic bottom pairs halves shared typers; do
    like_stock 2 "$rma" "$cases" "$name" || return
  done
  # Cases in which Debian's MPICH is wrong: it crashes, hangs, mixes up values, or does not detect the error.
  for name in beyond cached errors overlap forgotten held unchecked unattached allocated mapped threads makers callbacks \
    out_of_range; do
    carried 2 "$rma" "$cases" "$name" || return
  done
}

one_sided_refusals() {
  like_stock 3 "$rma" "$built/test/rma/rma_refusals" empty_parts &&
    carried 3 "$rma" "$built/test/rma/rma_refusals" refused_types &&
    job 3 env LD_PRELOAD="$rma" "$built/test/rma/rma_states" | diff test/rma/rma_states.txt -
}

settings() {
  mkdir -p "$work/settings"
  TEST_TMPDIR=$work/settings ./test/settings/differ_test.sh "$run_mpi" "$rma" "$pblas" "$shim/libbrigade_blacs.so" \
    "$built/test/rma/rma_refusals" "$built/test/pblas/errors_cases" "$built/test/blacs/blacs_cases" \
    "$built/test/li/li_cases" "$built/test/bsp/start_cases"
}

one_sided_fortran() {
  local source
  for source in test/rma/rma_{mpif,f08}_test.f90; do
    mpif90.mpich -o "$work/one_sided" "$source" && like_stock 2 "$rma" "$work/one_sided" || return
  done
}

# Counts of 64 bits, which Open MPI does not have.
one_sided_large() {
  mpicc.mpich -Wall -Werror -o "$work/large" test/rma/rma_large_counts.c && like_stock 2 "$rma" "$work/large"
}

# While a peer is in MPI_Send.
waiting_calls() {  # ROOM[,ARGUMENT...] EXPECTED VARIABLE=VALUE...
  ./test/support/waiting_calls_test.sh "$run_mpi" "$built/test/${1/,//waiting_calls,}" "${@:2}"
}
waiting_calls_of_all() {
  waiting_calls rma,single,funneled,serialized,multiple "carried over" LD_PRELOAD="$rma" &&
    waiting_calls blacs, "BLACS over transport" BRIGADE_OVERFLOW_BYTES=1M && waiting_calls li, "all calls" &&
    waiting_calls bsp, "all calls" &&
    waiting_calls pblas, "by one-sided communication" BRIGADE_EXPLAIN=1 BRIGADE_PBLAS=on \
      LD_PRELOAD="$pblas:$shim/libbrigade_blacs.so"
}

products() {
  local only='[dz]pb3tst'
  [[ ! -v BRIGADE_TEST_FULL ]] || only='[sdcz]pb3tst'
  BRIGADE_PBLAS=on BRIGADE_EXPLAIN=1 testers "$pblas:$shim/libbrigade_blacs.so" --only "$only" \
    --output results/testers-mpich-pblas &&
    grep "GEMM .*: by one-sided communication" results/testers-mpich-pblas/dpb3tst/stderr
}

of_products() {  # TEST [PROGRAM] [ARGUMENT...]: of test/pblas
  mkdir -p "$work/products"
  TEST_TMPDIR=$work/products "./test/pblas/$1_test.sh" "$run_mpi" "${@:2}"
}

ended() {
  mkdir -p "$work/ended"
  TEST_TMPDIR=$work/ended ./test/finalize/finalize_test.sh "$run_mpi" mpich "$shim/libbrigade_blacs.so" "$rma" "$pblas"
}

installed() {  # PREFIX
  ./install.sh --prefix "$1" --mpi mpich -- "${options[@]}" || return
  # shellcheck disable=SC2046 # lists of words
  mpicc.mpich examples/grid_sum.c -o "$work/grid_sum" \
    $(PKG_CONFIG_PATH=$1/lib/pkgconfig pkg-config --cflags --libs brigade_blacs) \
    -Wl,-rpath,"$1/lib" && job 4 "$work/grid_sum" &&
    like_stock 2 "$1/lib/libbrigade_rma.so" "$built/test/rma/rma_cases" post
}

# An MPICH in a folder of its own, which only its wrapper knows.
elsewhere() {
  local folder=$work/elsewhere
  mkdir -p "$folder/lib"
  ln -s "$(gcc -print-file-name=libmpich.so)" "$folder/lib/libmpich.so"
  printf '#!/bin/sh\n[ "$1" = -show ] || exec mpicc.mpich "$@"\necho "%s"\n' \
    "$(mpicc.mpich -show | sed "s,-L[^ ]*,-L$folder/lib,")" >"$folder/mpicc"
  chmod +x "$folder/mpicc"
  MPICC=$folder/mpicc installed "$work/prefix-elsewhere" &&
    readelf --dynamic "$work/prefix-elsewhere/bin/brigade_bench" | grep "RUNPATH.*$folder/lib"
}

no_wrapper() {
  ! MPICC=$work/nowhere/mpicc ./install.sh --prefix "$work/none" --mpi mpich -- "${options[@]}" >"$work/wrapper" 2>&1 ||
    return
  grep "nowhere/mpicc: there is no such wrapper" "$work/wrapper" && [[ ! -e $work/none ]]
}

# One installation under programs of both families.
either() {
  ./install.sh --prefix "$work/either" --either -- "${options[@]}" || return
  local lib=$work/either/lib family only
  # MPICH's own waits spin, and xCbtest has many on few processors.
  while read -r family only; do
    ./test/scalapack/run_testers.py --mpi "$family" --preload "$lib/libbrigade_blacs.so" --only "$only" \
      --output "results/testers-either-$family" || return
  done <<<$'openmpi xCbtest-4-noaux|xdlu\nmpich xdlu'
  job 4 env LD_PRELOAD="$lib/libbrigade_blacs64.so" BRIGADE_LOG=info \
    "$built/test/blacs/blacs64_c_header_test" >"$work/wide" 2>&1 && grep "BLACS over transport" "$work/wide"
}

# The examples that call no MPI themselves, compiled with the wrapper of the one family and started by either. BSPlib is
# for Open MPI there.
either_examples() {
  local lib=$work/either/lib compiler example library
  local openmpi=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe -n 4)
  while read -r compiler example library; do
    # shellcheck disable=SC2046 # lists of words
    "$compiler" "examples/$example.c" -o "$work/$example" \
      $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs "$library") -Wl,-rpath,"$lib" || return
    timeout 120 "${openmpi[@]}" "$work/$example" || return
    [[ $library != brigade_blacs ]] || job 4 "$work/$example" || return
  done <<<$'mpicc.openmpi grid_sum brigade_blacs\nmpicc.mpich grid_sum brigade_blacs\nmpicc.openmpi deal_by_key brigade_bsp'
}

families() {
  local lib=$work/either/lib
  mkdir -p "$work/families"
  TEST_TMPDIR=$work/families ./test/transport/families_test.sh "$run_mpi" "$built/test/transport/one_mpi" \
    "$lib"/libbrigade_{blacs,pblas,rma}.so "$lib"/libbrigade*.so.1
}

# A program of Open MPI ends at its first call of the BLACS, with a text that says why.
refused() {
  ! OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 200 mpirun.openmpi --oversubscribe -n 2 \
    env LD_PRELOAD="$shim/libbrigade_blacs.so" \
    "/usr/lib/$(gcc -print-multiarch)/scalapack/openmpi-tests/BLACS/xCbtest" >"$work/refusal" 2>&1 || return
  grep "this library was not built for Open MPI, which the program uses" "$work/refusal" || { cat "$work/refusal"; false; }
}

# All libraries say so, and those of Open MPI under MPICH, too (test/transport:wrong_mpi_test).
all_refused() {
  mkdir -p "$work/refused"
  TEST_TMPDIR=$work/refused ./test/transport/wrong_mpi_test.sh MPICH "Open MPI" libmpi.so.40 "$built/test/api/first_call" \
    "$built/test/bsp/bsp_cases" "$built/test/li/li_cases" "$shim/libbrigade_blacs.so" "$pblas" "$rma"
}

# Started by MPICH each process of Open MPI is alone.
other_launcher() {
  local openmpi
  bazel build "${options[@]}" //test/blacs:blacs_cases && openmpi=$(bazel info "${options[@]}" bazel-bin) &&
    job 2 env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$openmpi/test/blacs/blacs_cases" lonely \
      >"$work/launcher" 2>&1
  [[ $(grep -c "the launcher has started 2 processes .* of another MPI" "$work/launcher") -eq 2 ]] ||
    { cat "$work/launcher"; false; }
}

statistics() {
  job 2 env BRIGADE_STATS=1 "$built/test/blacs/blacs_cases" turns >"$work/statistics" 2>&1 &&
    grep "summed over 2 ranks" "$work/statistics"
}

# Programs by puts and gets, beside MPICH's messages; its windows serve some lengths wrongly.
studies() {
  local program
  for program in "cg --classes S,W" "mg --classes S,W" "summa -n 24,96 --widths 5,16" "md --atoms 108,256 --block 16"; do
    # shellcheck disable=SC2086 # a program and its arguments
    job 2 "$built/bench/studies/putget/"${program/ /_study } --peers messages --seconds 0.001 \
      --min-iterations 1 --max-iterations 1 || return
  done
}

# MPICH has some 2000 communicators, which both ranks say.
communicators() {
  ! job 2 "$built/test/blacs/blacs_cases" many_contexts >"$work/contexts" 2>&1 || return
  [[ $(grep -A9 "BLACS ERROR 'blacs_gridinit: .*MPI_Comm_create" "$work/contexts" |
    grep -c "Too many communicators") -eq 2 ]] || { cat "$work/contexts"; false; }
}

check "C" job 4 "$built/test/blacs/blacs_c_header_test"
check "C, 64 bits" job 4 "$built/test/blacs/blacs64_c_header_test"
check "Fortran" fortran brigade_blacs
check "Fortran, 64 bits" fortran brigade_blacs64 -fdefault-integer-8
check "statistics" statistics
check "too many contexts" communicators
check "threads in turn" job 2 "$built/test/blacs/blacs_cases" threads_in_turn
check "over MPI's messages" env BRIGADE_TRANSPORT=mpi timeout 300 mpirun.mpich -n 4 "$built/test/blacs/blacs_c_header_test"
check "over TCP" env BRIGADE_TRANSPORT=tcp BRIGADE_IFACE=lo timeout 300 mpirun.mpich -n 4 \
  "$built/test/blacs/blacs_c_header_test"
check "Debian's testers" testers "$shim/libbrigade_blacs.so" --only 'x[CF]btest-4-noaux|xdlu|xdllt|dpb3tst' \
  --output results/testers-mpich
check "Debian's testers with products" products
check "products beside ScaLAPACK's own" of_products differential "$built/test/pblas/differential" "$pblas" \
  "$shim/libbrigade_blacs.so" 2  # whose waits do not spin for processors that others need
check "products on harder data" of_products pblas "$pblas" "$shim/libbrigade_blacs.so" mpich
check "products that cannot be" of_products errors "$built/test/pblas/errors_cases" "$pblas" "$shim/libbrigade_blacs.so"
check "MKL's ScaLAPACK" ./test/scalapack/run_mkl.py --mpi mpich --preload "$shim/libbrigade_blacs.so" --pblas "$pblas"
check "one-sided calls: its names" ./rma_shim/exports_test.sh "$rma" rma_shim/exports.map "$built/test/rma/rma_cases" \
  "$built/rma_shim/libbrigade_rma_mpich.so.1"
check "one-sided calls" one_sided
check "one-sided calls that are refused" one_sided_refusals
check "one-sided calls of Fortran" one_sided_fortran
check "one-sided calls with large counts" one_sided_large
check "settings that differ" settings
check "the end of MPI" ended
check "calls that wait" waiting_calls_of_all
check "benchmarks" job 2 "$built/bench/brigade_bench" --peers blacs --shim none --seconds 0.05 spread --cases broadcast \
  --bytes 1K
check "studies by puts and gets" studies
for backend in windows mpi_rma mpi_send bsp; do
  # Otherwise UCX, below Debian's MPICH, takes short windows for others that lie beside them, and gets are lost.
  settings=(BRIGADE_LI_BACKEND="$backend" UCX_RCACHE_ENABLE=n)
  # MPICH's own windows spin, and take a minute beside other work.
  check "LI over $backend" env TEST_TIMEOUT=300 ./test/li/li_test.sh "$run_mpi" "$built/test/li/li_cases" "${settings[@]}"
  check "LI over $backend: mistakes" ./test/li/li_misuse_test.sh "$run_mpi" "$built/test/li/li_misuse" checked \
    "${settings[@]}"
done
check "LI: mistakes that are always found" ./test/li/li_misuse_test.sh "$run_mpi" "$built/test/li/li_misuse" always
check "BSPlib" ./test/bsp/bsp_test.sh "$run_mpi" "$built/test/bsp/bsp_cases"
check "BSPlib: mistakes" ./test/bsp/misuse_test.sh "$run_mpi_marked" "$built/test/bsp/misuse_cases" 0 1
check "BSPlib: how programs start" ./test/bsp/start_test.sh "$run_mpi_marked" "$built/test/bsp/start_cases"
for suite in "as_suite --ints 1,3000" "mult_suite -n 2,48" "rdx_suite --keys 2,1001,20000"; do
  # shellcheck disable=SC2086 # words
  check "$suite" ./bench/studies/suites_test.sh "$run_mpi" 4 "$built/bench/studies/"$suite
done
check "a program of Open MPI is refused" refused
check "by each library" all_refused
check "Open MPI under MPICH's launcher" other_launcher
check "an installation" installed "$work/prefix"
check "one installation for both families" either
check "examples without calls of MPI" either_examples
check "libraries that name no MPI" families
check "an installation with another MPICH" elsewhere
check "an installation with no MPICH" no_wrapper
finish
