-- One value, sealed under the master key when the database is first used with one. A start whose master keys do not open it is refused: it would
-- seal under a key that opens nothing of what is here. A new master key takes it over with all other sealed values, as the last of them.
create table master_key_check (
  name text not null default 'check',
  sealed bytea not null,
  constraint master_key_check_pkey primary key (name),
  constraint master_key_check_one_row check (name = 'check')
);
