#!/bin/sh
# admit-space.sh: gives the role of the Space service what docs/operating/install.md says, after each migration, as the owner of the tables.
set -eu
# The role that `migrate` uses: a rotation changes it (docs/operating/rotate.md). psql would take the address as an argument, which other
# processes of the machine can read.
role=$(sed -n 's|^[^:]*://\([^/?#]*\)@.*|\1|p' /run/secrets/database-url)
decode() { printf '%s' "$1" | perl -pe 's/%([0-9a-f]{2})/chr hex $1/gie'; }
export PGUSER PGPASSWORD
PGUSER=$(decode "${role%%:*}")
case $role in *:*) PGPASSWORD=$(decode "${role#*:}") ;; *) PGPASSWORD= ;; esac
psql -v ON_ERROR_STOP=1 --host postgres --username "${PGUSER:?"database-url has no user before its host"}" --dbname atrium <<'END'
-- A database of an earlier release: its owner is a superuser, and has no role for Space yet.
\set password `cat /run/secrets/space-database-password`
select format('create role atrium_space login password %L', :'password')
  where not exists (select from pg_roles where rolname = 'atrium_space') \gexec
grant usage on schema public to atrium_space;
grant select on schema_migration_checksum, schema_function, restores to atrium_space;
grant select, insert, update, delete on rooms, room_lines, removed_rooms, new_rooms, space_use, space_total to atrium_space;
END
