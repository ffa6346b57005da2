#!/bin/bash
# The steps of packaging/container/Dockerfile, without a daemon: each stage begins with a fresh Debian 12, in which RUN
# and CMD run by chroot. Then a program is built in the image, and the command of the file's head runs, for a shorter
# time. As root, with a mirror of Debian; otherwise it is skipped. The last line counts.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
. test/support/checks.sh
. test/support/debian_root.sh
dockerfile=packaging/container/Dockerfile

fresh_debian "the container"

# Runs in $root with the settings of ENV and WORKDIR, as USER.
inside() { in_debian "$root" "$user" "$home" "$setup$1"; }  # COMMAND

copy() {  # [--from=STAGE] SOURCE TARGET
  local to=$root${*: -1}
  mkdir -p "$to"
  if [[ $1 == --from=* ]]; then
    cp -a "$work/${1#--from=}$2/." "$to"
  else
    tar -C "$1" --anchored --exclude-from=<(sed 's,^,./,' "$dockerfile.dockerignore") -cf - . | tar -C "$to" -xf -
  fi
}

while read -r word rest; do
  case $word in
    FROM)
      root=$work/$(awk '{ print $3 ? $3 : "image" }' <<<"$rest") user=root home=/root setup=
      cp -a "$work/debian" "$root"
      ;;
    COPY)
      # shellcheck disable=SC2086 # words
      check "COPY $rest" copy $rest
      ;;
    RUN) check "RUN $rest" inside "$rest" ;;
    ENV) setup+="export $rest; " ;;
    USER) user=$rest home=/home/$rest ;;
    WORKDIR) mkdir -p "$root$rest" && setup+="cd $rest; " ;;
    CMD) check "CMD $rest" inside "$(tr -d '[],"' <<<"$rest") | grep '^  shm  *yes'" ;;
    *) check "$word" false ;;
  esac
  [[ $failed -eq 0 ]] || finish
done < <(sed -e '/^#/d; /^$/d' -e ':more; /\\$/{N; s/\\\n *//; b more}' "$dockerfile")

cp examples/grid_sum.c "$root/tmp"
# shellcheck disable=SC2016 # for the shell inside
check "a program of the BLACS" inside 'mpicc /tmp/grid_sum.c -o grid_sum $(pkg-config --cflags --libs brigade_blacs) \
    -Wl,-rpath,/opt/brigade/lib
  mpirun --oversubscribe -n 4 ./grid_sum | grep "the sum of row 0 is 1"'
check "the command in the head of the file" inside \
  "$(sed -n 's/^# *docker run .* brigade //p' "$dockerfile") --seconds 0.01"
finish
