#!/bin/bash
# Installs the packages that are missing. Where that takes rights we do not have, names them and stops.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: ./test/install.sh [build | bench | test | full]

Installs the Debian 12 packages that are missing: of a build (the default), of ./bench/run.sh, of ./test/run.sh, or of
./test/run.sh --full. Each list of test/packages/ adds to the one before. Says what it installs and how large that is.
EOF
}

lists=()
wanted_list=${1:-build}
[[ $# -le 1 ]] || wanted_list=
case $wanted_list in
  --help) usage; exit 0 ;;
  build) lists=(build) ;;
  bench) lists=(build bench) ;;
  test) lists=(build bench test) ;;
  full) lists=(build bench test full) ;;
  *) echo "install.sh: there is no list '$*'" >&2; usage >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "Brigade is built and tested on Debian 12, and this system has no apt-get." >&2
  exit 1
fi

cd "$(dirname "$0")/packages"
mapfile -t wanted < <(sed -E 's/[[:space:]]*(#.*)?$//; /^$/d' "${lists[@]/%/.txt}")
missing=()
for package in "${wanted[@]}"; do
  # A word for each architecture of the package.
  status=$(dpkg-query --show --showformat=' ${db:Status-Status} ' "$package" 2>/dev/null || true)
  [[ $status == *' installed '* ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "All ${#wanted[@]} packages of '$wanted_list' are installed."
  exit 0
fi

as_root=()
if [[ $EUID -ne 0 ]]; then
  # In a terminal sudo may prompt for the password; elsewhere a prompt could not be answered.
  if [[ -t 0 ]]; then as_root=(sudo); else as_root=(sudo --non-interactive); fi
  if ! command -v sudo >/dev/null || ! "${as_root[@]}" true; then
    echo "Missing packages, and neither root nor sudo to install them. As root:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
fi

echo "Installing ${#missing[@]} missing packages of '$wanted_list': ${missing[*]}"
"${as_root[@]}" apt-get update --quiet=2
# The size, which apt prints before its prompt.
LC_ALL=C apt-get install --assume-no --no-install-recommends "${missing[@]}" 2>/dev/null |
  grep -E '^(Need to get|After this operation)' || true
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install --yes --quiet=2 --no-install-recommends "${missing[@]}"
