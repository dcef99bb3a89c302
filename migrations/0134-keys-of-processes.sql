-- The id of the master key under which the process seals; null: a process of an earlier release.
alter table processes add column sealing_key text;
