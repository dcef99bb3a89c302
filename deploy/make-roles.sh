#!/bin/sh
# make-roles.sh: makes the roles of a new database: the image of PostgreSQL runs it once, as the superuser. `atrium` owns the database, and
# `atrium_space` is what the Space service is. Neither is a superuser.
set -eu
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'END'
\set password `cat /run/secrets/database-password`
create role atrium login password :'password';
\set password `cat /run/secrets/space-database-password`
create role atrium_space login password :'password';
select format('alter database %I owner to atrium', current_database()) \gexec
END
