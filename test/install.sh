#!/bin/bash
# Installs the packages of packages.txt that are missing. Where that takes rights we do not have, names them and stops.
set -euo pipefail

if ! command -v apt-get >/dev/null; then
  echo "Brigade is built and tested on Debian 12; here is no apt-get." >&2
  exit 1
fi

mapfile -t wanted < <(sed -E 's/[[:space:]]*(#.*)?$//; /^$/d' "$(dirname "$0")/packages.txt")
missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "All ${#wanted[@]} packages are installed."
  exit 0
fi

as_root=()
if [[ $EUID -ne 0 ]]; then
  # In a terminal sudo may ask for the password; elsewhere nobody could answer.
  if [[ -t 0 ]]; then as_root=(sudo); else as_root=(sudo --non-interactive); fi
  if ! command -v sudo >/dev/null || ! "${as_root[@]}" true; then
    echo "Missing packages, and neither root nor sudo to install them. As root:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
fi

echo "Installing ${#missing[@]} missing packages: ${missing[*]}"
"${as_root[@]}" apt-get update --quiet=2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install --yes --quiet=2 --no-install-recommends "${missing[@]}"
