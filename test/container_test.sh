#!/bin/bash
# What packaging/container/Dockerfile says, done without a daemon: each stage begins with a fresh Debian 12, in which
# RUN and CMD run by chroot. Then a program is built in the image, and the command of the file's head runs, for a
# shorter time. As root, with a mirror of Debian; otherwise it is skipped. The last line counts.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
. test/support/checks.sh
dockerfile=packaging/container/Dockerfile

leave_out() {  # WHY
  skip "the container" "$1"
  finish
}
[[ $EUID -eq 0 ]] || leave_out "which takes root"
unshare --mount --pid --fork true || leave_out "which takes namespaces"
# The mirror of this machine.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)
debootstrap --variant=minbase bookworm "$work/debian" "$mirror" >"$work/debootstrap" 2>&1 ||
  leave_out "for which debootstrap gets no Debian: $(tail -n 1 "$work/debootstrap")"
# As every image, it gets the network from outside.
cp /etc/resolv.conf "$work/debian/etc"

# In $root, after what ENV and WORKDIR said, as USER. What it has started ends with it.
inside() {  # COMMAND
  unshare --mount --pid --fork --kill-child sh -ec '
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
    exec chroot --userspec="$2" "$1" env -i HOME="$3" PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -ec "$4"
  ' sh "$root" "$user" "$home" "$setup$1" </dev/null
}

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
