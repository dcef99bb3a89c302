#!/bin/sh
# What the entry point of the image `postgres` does, with the programs in POSTGRES_PROGRAMS: the first start makes the database that POSTGRES_DB,
# POSTGRES_USER and POSTGRES_PASSWORD_FILE name.
set -eu
# A command of its own runs as it is.
[ $# -eq 0 ] || exec "$@"
data=/var/lib/postgresql/data
# PostgreSQL refuses to run as root.
as_owner() { setpriv --reuid=65534 --regid=65534 --clear-groups env LC_ALL=C.UTF-8 "$@"; }

install -d -o 65534 -g 65534 /var/run/postgresql
install -d -o 65534 -g 65534 -m 0700 "$data"
if [ ! -e "$data/PG_VERSION" ]; then
  install -o 65534 -m 0400 "$POSTGRES_PASSWORD_FILE" /tmp/password
  as_owner "$POSTGRES_PROGRAMS/initdb" -D "$data" -U "$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 -E UTF8
  echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
  echo "create database \"$POSTGRES_DB\"" | as_owner "$POSTGRES_PROGRAMS/postgres" --single -j -D "$data" postgres
  # On a socket alone, and without a password, as there.
  mv "$data/pg_hba.conf" /tmp/pg_hba.conf
  echo 'local all all trust' >"$data/pg_hba.conf" && chown 65534 "$data/pg_hba.conf"
  own="-c listen_addresses= -c unix_socket_directories=/var/run/postgresql"
  as_owner "$POSTGRES_PROGRAMS/pg_ctl" -D "$data" -w -o "$own" start
  for script in /docker-entrypoint-initdb.d/*; do
    [ ! -e "$script" ] || PGHOST=/var/run/postgresql sh "$script"
  done
  as_owner "$POSTGRES_PROGRAMS/pg_ctl" -D "$data" -w stop
  mv /tmp/pg_hba.conf "$data/pg_hba.conf"
fi
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$POSTGRES_PROGRAMS/postgres" -D "$data" \
  -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql -c fsync=off
