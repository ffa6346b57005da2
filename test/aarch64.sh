#!/bin/bash
# The C++ files of libraries and installed programs that name the processor, the kernel or atomics compile for aarch64,
# warnings being errors; with --all, every C++ file of these, which takes minutes. The headers of MPI, io_uring,
# libsodium and JSON are this machine's, which name no processor.
set -euo pipefail

cd "$(dirname "$0")/.."
compiler=aarch64-linux-gnu-g++
if ! command -v "$compiler" >/dev/null; then
  echo "aarch64.sh: no $compiler; ./test/install.sh full installs it" >&2
  exit 1
fi
# Their own folder: behind /usr/include the compiler would find this machine's C library.
headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
for name in liburing liburing.h sodium sodium.h nlohmann CLI; do ln -s "/usr/include/$name" "$headers/$name"; done

options=(-std=c++17 -fsyntax-only -Wall -Wextra -Werror -DOMPI_SKIP_MPICXX -I. -Iinclude -isystem "$headers")
read -ra folders <<<"$(mpicxx.openmpi --showme:incdirs)"
pattern='atomic|__builtin|syscall|sysconf|__x86_64__|alignas'
[[ ${1-} != --all ]] || pattern=
grep -rlZE --include='*.cc' --exclude='*_test.cc' --exclude-dir=fuzz -e "$pattern" \
  membuf transport patterns windows {blacs,pblas,rma,li,bsp}_shim tools bench/{cases,contenders,runner} |
  xargs -0 -P "$(nproc)" -n 4 "$compiler" "${options[@]}" "${folders[@]/#/-isystem}"
