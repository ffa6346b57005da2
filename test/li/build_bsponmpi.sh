#!/bin/bash
# Builds BSPonMPI, a BSPlib by others, with the MPI of mpicxx. Prints the path of the library, for BRIGADE_LI_BSP.
#   build_bsponmpi.sh FOLDER        with its source; if there is no such folder, the source is cloned into it
# BSPONMPI says where the source is cloned from.
set -euo pipefail

folder=${1:?"usage: build_bsponmpi.sh FOLDER"}
[[ -d $folder ]] || GIT_TERMINAL_PROMPT=0 timeout 120 git clone --quiet --depth 1 \
  "${BSPONMPI:-https://github.com/wijnand-suijlen/bsponmpi.git}" "$folder"
cd "$folder"
for file in a2a bsmp bsp lincost rdma spmd tictoc unbuf; do
  mpicxx -O2 -w -fPIC -DHAS_CXX11_UNORDERED_MAP -DHAS_CLOCK_GETTIME -DHAS_UNISTD -DOMPI_SKIP_MPICXX -DBUILDING_DLL \
    -Iinclude -c "src/$file.cc" -o "$file.o"
done
mpicc -O2 -w -fPIC -DBUILDING_DLL -Iinclude -c src/util.c -o util.o
mpicxx -shared ./*.o -o libbsponmpi.so
realpath libbsponmpi.so
