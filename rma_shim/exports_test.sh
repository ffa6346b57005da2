#!/bin/bash
# The library's part for an MPI takes every call of MPI that makes, synchronises or works on a window, by both of its
# names, those that allocate memory for one, and those that wait for requests, and nothing else, MPI 4's forms for large
# counts among them; and the one call of Fortran whose wrappers do not end there. MPI 4.1's calls that look at several
# requests are there whether the MPI has them or not. Arguments: the library, exports.map, a program with the MPI, and
# the library's part for that MPI.
set -euo pipefail

# Calls that act on the handle beneath: it keeps names, info, error handlers and attributes.
beneath='call_errhandler|create_errhandler|[gs]et_errhandler|[gs]et_info|[gs]et_name|create_keyval|free_keyval'
beneath+='|set_attr|delete_attr|c2f|f2c|f2c08|c2f08'

names() { nm -D --defined-only "$1" | awk '{print $NF}' | LC_ALL=C sort; }

mpi=$(ldd "$3" | awk '$1 ~ /^libmpi(ch)?\.so/ {print $3}')
expected=$({
  names "$mpi"
  printf '%s\n' {,P}MPI_Request_get_status_{any,all,some}
} | LC_ALL=C sort -u | grep -E '^P?MPI_(Win_.*|(Alloc|Free)_mem|(R?(put|get|accumulate|get_accumulate)|Put|Get|Accumulate|Get_accumulate)(_c)?|Fetch_and_op|Compare_and_swap|(Wait|Test)(any|all|some)?|Request_get_status(_(any|all|some))?)$' |
  grep -vE "^P?MPI_Win_($beneath)\$" | grep -v '_fn$')
[ "$(wc -l <<<"$expected")" -gt 50 ]
if ! diff <(echo "$expected") <(names "$4" | grep -vE '^(brigade_take_find_next|p?mpi_win_get_attr_)$'); then
  echo "FAILED: '<' is missing from the exports, '>' should not be there"
  exit 1
fi

# The library has the names of all MPIs.
if ! diff <(sed -nE 's/^ *(P?MPI_.*|p?mpi_.*);/\1/p' "$2" | LC_ALL=C sort) <(names "$1"); then
  echo "FAILED: '<' is missing from the names, '>' should not be there"
  exit 1
fi
