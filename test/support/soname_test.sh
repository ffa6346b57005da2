#!/bin/bash
# A shared library says under which name programs that were linked with it look for it, and is there under that name:
#   soname_test.sh LIBRARY.so LIBRARY.so.VERSION
set -euo pipefail

for library in "$@"; do
  soname=$(readelf --dynamic "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
  if [[ $soname != "$(basename "$2")" ]]; then
    echo "$library: its SONAME is '$soname', not $(basename "$2")"
    exit 1
  fi
done
