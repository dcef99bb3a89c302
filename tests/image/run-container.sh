#!/bin/sh
# run-container.sh ROOT VOLUME... -- USER FOLDER COMMAND...: runs the command as a container engine does with --read-only, --cap-drop=all,
# --security-opt=no-new-privileges and the network of the host. Needs root, and nothing of an engine. A volume is SOURCE:TARGET[:ro]; its
# target exists in the image or is under /run. Call it as `unshare --mount --pid --fork`: the command becomes process 1 there, and all that
# it started ends with it.
set -eu
root=$1
shift

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
while [ "$1" != -- ]; do
  source=${1%%:*} rest=${1#*:}
  target=$root${rest%:ro}
  mkdir -p "$target"
  mount --bind "$source" "$target"
  if [ "$rest" != "${rest%:ro}" ]; then mount -o remount,bind,ro "$target"; fi
  shift
done
mount -o remount,bind,ro "$root/run"
mount -o remount,bind,ro "$root"
user=$2 folder=$3
shift 3
exec chroot "$root" setpriv --reuid="${user%:*}" --regid="${user#*:}" --clear-groups --no-new-privs --bounding-set=-all -- \
  env --chdir="$folder" "$@"
