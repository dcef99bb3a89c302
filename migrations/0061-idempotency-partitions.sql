-- Idempotency keys become partitioned by hash: their uniqueness needs scope and key in one index, so they cannot be partitioned by time. This
-- migration creates the new table and copies what is written from now on; 0062 copies the rest and exchanges the tables.
-- docs/decisions/0039 has the reasons.
create table idempotency_keys_parts (
  scope text collate "C" not null,
  key_hash bytea not null,
  body_hash bytea not null,
  answer bytea,
  expires_at timestamptz(3) not null,
  constraint idempotency_keys_parts_pkey primary key (scope, key_hash)
) partition by hash (key_hash);
create index idempotency_keys_parts_expires_at on idempotency_keys_parts (expires_at);

create table idempotency_keys_0 partition of idempotency_keys_parts for values with (modulus 8, remainder 0);
create table idempotency_keys_1 partition of idempotency_keys_parts for values with (modulus 8, remainder 1);
create table idempotency_keys_2 partition of idempotency_keys_parts for values with (modulus 8, remainder 2);
create table idempotency_keys_3 partition of idempotency_keys_parts for values with (modulus 8, remainder 3);
create table idempotency_keys_4 partition of idempotency_keys_parts for values with (modulus 8, remainder 4);
create table idempotency_keys_5 partition of idempotency_keys_parts for values with (modulus 8, remainder 5);
create table idempotency_keys_6 partition of idempotency_keys_parts for values with (modulus 8, remainder 6);
create table idempotency_keys_7 partition of idempotency_keys_parts for values with (modulus 8, remainder 7);

create function copy_idempotency_key() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'DELETE' then
    delete from idempotency_keys_parts p where p.scope = old.scope and p.key_hash = old.key_hash;
  else
    insert into idempotency_keys_parts as p (scope, key_hash, body_hash, answer, expires_at)
    values (new.scope, new.key_hash, new.body_hash, new.answer, new.expires_at)
    on conflict on constraint idempotency_keys_parts_pkey
      do update set body_hash = excluded.body_hash, answer = excluded.answer, expires_at = excluded.expires_at;
  end if;
  return null;
end
$$;

create trigger idempotency_keys_copied after insert or update or delete on idempotency_keys
  for each row execute function copy_idempotency_key();
