#!/bin/bash
# The library exports the 156 names of the BLACS and nothing else, and has all that is below from libbrigade.so of the
# same release. Arguments: the library, beside which libbrigade.so.0 is, and version.h.
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
exported=$(nm -D --defined-only "$1" | awk '{print $NF}' | LC_ALL=C sort)
[ "$(wc -l <<< "$expected")" = 156 ]
if ! diff <(echo "$expected") <(echo "$exported"); then
  echo "FAILED: '<' is missing from the exports, '>' should not be there"
  exit 1
fi

if inside=$(nm --demangle "$1" | grep ' [Tt] brigade::' | grep -v ' brigade::blacs::'); then
  echo "FAILED: these belong to libbrigade.so:"
  echo "$inside"
  exit 1
fi

# That of another release is refused, by its name.
release=$(sed -n 's/^#define BRIGADE_VERSION "\(.*\)"/\1/p' "$2")
mixed=$TEST_TMPDIR/mixed
mkdir -p "$mixed"
cp -L "$1" "$mixed/libbrigade_blacs.so"
ln -s "$(realpath "$(dirname "$1")/libbrigade.so.0")" "$mixed/libbrigade.so.0"
LD_PRELOAD=$mixed/libbrigade_blacs.so /bin/true
rm "$mixed/libbrigade.so.0"
echo 'BRIGADE_INTERNAL_9.9.9 { local: *; };' >"$mixed/exports.map"
gcc -shared -x c /dev/null -o "$mixed/libbrigade.so.0" \
  -Wl,-soname,libbrigade.so.0 -Wl,--version-script="$mixed/exports.map"
if LD_PRELOAD=$mixed/libbrigade_blacs.so /bin/true 2>"$mixed/out" ||
  ! grep -q "libbrigade.so.0: version .BRIGADE_INTERNAL_$release. not found" "$mixed/out"; then
  echo "FAILED: does not refuse libbrigade.so of another release; says:"
  cat "$mixed/out"
  exit 1
fi
