# shellcheck shell=bash disable=SC2154
# A Debian 12 of its own, in which commands run by chroot. Sourced after checks.sh. As root, with a mirror of Debian.

# Into $work/debian; or all is skipped.
fresh_debian() {  # WHAT-IS-LEFT-OUT
  local mirror
  leave_out() { skip "$1" "$2"; finish; }
  [[ $EUID -eq 0 ]] || leave_out "$1" "which takes root"
  unshare --mount --pid --fork true || leave_out "$1" "which takes namespaces"
  # The mirror of this machine.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Created-By: Packages' | head -n 1)
  debootstrap --variant=minbase bookworm "$work/debian" "$mirror" >"$work/debootstrap" 2>&1 ||
    leave_out "$1" "for which debootstrap gets no Debian: $(tail -n 1 "$work/debootstrap")"
  # As every image, it gets the network from outside, and knows its name: MPI would wait for a name server at each start.
  cp /etc/resolv.conf "$work/debian/etc"
  printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(hostname)" >"$work/debian/etc/hosts"
}

# Processes of COMMAND end with it.
in_debian() {  # ROOT USER HOME COMMAND
  unshare --mount --pid --fork --kill-child sh -ec '
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --rbind /sys "$1/sys"
    exec chroot --userspec="$2" "$1" env -i HOME="$3" \
      ${http_proxy+http_proxy="$http_proxy"} ${https_proxy+https_proxy="$https_proxy"} ${no_proxy+no_proxy="$no_proxy"} \
      PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -ec "$4"
  ' sh "$@" </dev/null
}
