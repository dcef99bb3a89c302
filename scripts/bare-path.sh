#!/usr/bin/env bash
# Fills the folder with links to what a bare Debian has (the programs of its essential packages) and to Node and npm: with it as PATH, a
# program that a test or the server only happens to find on this machine is not there.
set -euo pipefail
folder=$1
mkdir -p "$folder"
# Tests also start programs as another user, who must be able to look here.
chmod 755 "$folder"
dpkg-query -Wf '${Essential} ${Package}\n' | sed -n 's/^yes //p' | xargs dpkg -L | grep -E '^(/usr)?/s?bin/[^/]+$' | while read -r program; do
  if [ -x "$program" ]; then ln -sf "$program" "$folder/"; fi
done
# mawk fills in for awk through the system of alternatives, which belongs to no package.
if command -v awk >/dev/null; then ln -sf "$(command -v awk)" "$folder/awk"; fi
for program in node npm npx; do ln -sf "$(command -v "$program")" "$folder/"; done
