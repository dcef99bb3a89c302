#!/bin/sh
# run-container.sh ROOT READ_ONLY VOLUME... -- PRIVILEGE... -- COMMAND...: runs the command as a container engine does, with --read-only
# if READ_ONLY is `true`. Needs root, and nothing of an engine. A volume is SOURCE:TARGET[:ro], or tmpfs=OPTIONS:TARGET; with a read-only
# root its target exists in the image or is under /run. A privilege is an option of setpriv. ROOT is `/` for this machine's own programs: what they
# write to it is in memory, and ends with them. Call it as `unshare --mount --pid --fork`: the command becomes process 1 there, and all that
# it started ends with it.
set -eu
root=$1 read_only=$2
shift 2

if [ "$root" = / ]; then
  mount -t tmpfs tmpfs /mnt
  mkdir /mnt/upper /mnt/work /mnt/root
  mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
  root=/mnt/root
fi
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=0755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
for name in hosts resolv.conf; do
  # What an engine does too: the mount needs a file to be on.
  [ -e "$root/etc/$name" ] || : >"$root/etc/$name"
  mount --bind "/etc/$name" "$root/etc/$name"
done
own_run=
while [ "$1" != -- ]; do
  source=${1%%:*} rest=${1#*:}
  target=$root${rest%:ro}
  if [ -f "$source" ]; then
    [ -e "$target" ] || { mkdir -p "${target%/*}" && : >"$target"; }
  else
    mkdir -p "$target"
  fi
  if [ "${source#tmpfs=}" != "$source" ]; then
    mount -t tmpfs -o "${source#tmpfs=}" tmpfs "$target"
  else
    mount --bind "$source" "$target"
  fi
  if [ "$rest" != "${rest%:ro}" ]; then mount -o remount,bind,ro "$target"; fi
  if [ "$target" = "$root/run" ]; then own_run=1; fi
  shift
done
if [ "$read_only" = true ]; then
  [ -n "$own_run" ] || mount -o remount,bind,ro "$root/run"
  mount -o remount,bind,ro "$root"
fi
shift
exec chroot "$root" setpriv "$@"
