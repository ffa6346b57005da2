#!/bin/bash
# The two commands of the README, in a clone of the last commit, on a Debian 12 that has git alone, by chroot. Prints how
# long each phase took. As root, with a mirror of Debian; otherwise it is skipped. The last line counts.
#   bare_test.sh [COMMAND...]    default: ./bench/run.sh and ./test/run.sh
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
. test/support/checks.sh
. test/support/debian_root.sh
logs=$PWD/results/tests
mkdir -p "$logs"
[[ $# -gt 0 ]] || set -- ./bench/run.sh ./test/run.sh

# Each line after the seconds since the start.
stamped() {
  local began=$SECONDS line
  while IFS= read -r line; do printf '%d\t%s\n' $((SECONDS - began)) "$line"; done
}

# The time between headlines, each headline once.
phases() {
  awk -F'\t' '
    /\t== / { sub(/^== ([0-9:]+ +)?/, "", $2); sub(/ *\(.*/, "", $2); if (title != "") spent[title] += $1 - began
              if (!($2 in spent)) { spent[$2] = 0; order[++n] = $2 }
              title = $2; began = $1 }
    { last = $1 }
    END { spent[title] += last - began
          for (i = 1; i <= n; ++i) printf "%4d min %02d s  %s\n", spent[order[i]] / 60, spent[order[i]] % 60, order[i]
          printf "%4d min %02d s  together\n", last / 60, last % 60 }' "$1"
}

on_bare() {  # COMMAND
  local root=$work/root code
  rm -rf "$root"
  cp -a "$work/debian" "$root"
  in_debian "$root" root /root \
    "apt-get --quiet=2 update; apt-get --quiet=2 install --yes --no-install-recommends git" || return
  git clone --quiet . "$root/brigade" || return
  in_debian "$root" root /root "cd /brigade; $1" 2>&1 | stamped >"$log"
  code=${PIPESTATUS[0]}
  [[ $code -eq 0 ]] || cp -r "$root/brigade/results" "${log%.log}-results"
  tail -n 20 "$log"
  return "$code"
}

fresh_debian "the commands of the README on a bare Debian"
for command; do
  log=$logs/bare-$(tr -c 'a-z\n' '-' <<<"${command#./}").log
  check "$command on a bare Debian" on_bare "$command"
  phases "$log"
done
finish
