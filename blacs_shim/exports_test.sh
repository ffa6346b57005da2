#!/bin/bash
# The library exports the 156 names of the BLACS, those of MPI's initialisation, and nothing else. Its part for an MPI
# exports the former alone, and has all that is below from libbrigade.so of the same release. Arguments: the library,
# version.h, and the part.
set -eu

expected_names() {
  local type operation name
  for type in i s d c z; do
    for operation in gesd2d trsd2d gerv2d trrv2d gebs2d trbs2d gebr2d trbr2d gsum2d gamx2d gamn2d; do
      echo "C$type$operation"
      echo "$type${operation}_"
    done
  done
  for name in blacs_{pinfo,setup,get,set,gridinit,gridmap,gridexit,gridinfo,pnum,pcoord} \
    blacs_{barrier,freebuff,abort,exit} sys2blacs_handle blacs2sys_handle \
    free_blacs_system_handle ksendid krecvid kbsid kbrid dcputime00 dwalltime00; do
    echo "C$name"
    echo "${name}_"
  done
}

expected=$(expected_names | LC_ALL=C sort)
[ "$(wc -l <<< "$expected")" = 156 ]
initialisation=$(printf '%s\n' {,P}MPI_Init{,_thread})
for library in "$1" "$3"; do
  names=$expected
  [ "$library" != "$1" ] || names+=$'\n'$initialisation
  exported=$(nm -D --defined-only "$library" | awk '{print $NF}' | LC_ALL=C sort)
  if ! diff <(LC_ALL=C sort <<<"$names") <(echo "$exported"); then
    echo "FAILED: '<' is missing from the exports of $library, '>' should not be there"
    exit 1
  fi
done

if nm --demangle --defined-only "$3" | grep ' brigade::Engine::Create('; then
  echo "FAILED: there is an engine inside, which libbrigade.so has"
  exit 1
fi
# The loader refuses a libbrigade.so of another release.
release=$(sed -n 's/^#define BRIGADE_VERSION "\(.*\)"/\1/p' "$2")
needed=$(readelf --version-info --wide "$3" | grep -A9 'File: libbrigade\.so\.1' || true)
if ! grep -q "Name: BRIGADE_INTERNAL_$release " <<<"$needed"; then
  echo "FAILED: does not ask for libbrigade.so.1 of release $release"
  exit 1
fi
