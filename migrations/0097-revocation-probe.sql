-- The slowest revocation of a key that the process measured in the last hour; null: it measured none.
alter table processes add column slowest_revocation_ms integer;
