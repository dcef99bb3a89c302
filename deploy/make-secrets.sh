#!/bin/sh
# make-secrets.sh [FOLDER]: makes the secrets that compose.yaml and deploy/kubernetes mount, one file each. Those that are there stay.
# Keep a copy of master-key apart from the backups of the database.
set -eu
umask 077
folder=${1:-$(dirname "$0")/secrets}
database=${DATABASE_HOST:-postgres:5432}
redis=${REDIS_HOST:-redis:6379}
sslmode=${DATABASE_SSLMODE:-disable}
mkdir -p "$folder"
cd "$folder"

# make NAME COMMAND…: the file appears whole or not at all.
make() {
  name=$1
  shift
  # An earlier release could leave empty secrets.
  [ -s "$name" ] && return
  # Not a pipe: its status would be that of `tr`, and a command that failed would leave an empty secret.
  value=$("$@")
  value=$(printf '%s' "$value" | tr -d '\r')
  [ -n "$value" ] || { echo "$0: $1 wrote nothing" >&2; exit 1; }
  printf '%s\n' "$value" > ".$name"
  # Readable by the user of the container. The folder is closed to others.
  chmod 0444 ".$name"
  mv ".$name" "$name"
}
text() { printf '%s\n' "$1"; }

# make_address NAME USER PASSWORD PLACE: USER is what comes before the password in the address, and PASSWORD is the name of its file.
make_address() {
  # An earlier release could leave this address without the password.
  [ ! -e "$1" ] || [ "$(cat "$1")" != "$2:@$4" ] || rm -f "$1"
  make "$1" text "$2:$(cat "$3")@$4"
}

make database-password openssl rand -hex 24
make_address database-url postgresql://atrium database-password "$database/atrium?sslmode=$sslmode"
make postgres-password openssl rand -hex 24
make space-database-password openssl rand -hex 24
make_address space-database-url postgresql://atrium_space space-database-password "$database/atrium?sslmode=$sslmode"
make redis-password openssl rand -hex 24
make_address redis-url redis:// redis-password "$redis"
make admin-token openssl rand -hex 32
make master-key openssl rand -base64 32
make space-signing-key openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256
