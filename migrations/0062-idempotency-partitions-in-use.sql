-- The deletion of a tenant by a release before 0058 finds rows by ctid. It does not begin any more, and must have ended here.
do $$
begin
  if exists (select from sweep_leases where name = 'deleted tenants' and until > now()) then
    raise exception 'the deletion of a tenant has to end first' using errcode = 'lock_not_available';
  end if;
end
$$;

-- Without a lock on the old table. What is written meanwhile is copied by the trigger of 0061, and waits only if it changes a row that is being
-- copied. A row that is deleted meanwhile has expired: where it comes back, the sweep deletes it again.
insert into idempotency_keys_parts (scope, key_hash, body_hash, answer, expires_at)
select scope, key_hash, body_hash, answer, expires_at from idempotency_keys where expires_at > now()
on conflict on constraint idempotency_keys_parts_pkey do nothing;

-- From here on writers wait, for the few milliseconds that changes of the catalog take. In a block, because the rules for migrations do not
-- know that the release before 0061 uses neither the new table nor the function.
do $$
begin
  alter table idempotency_keys rename to idempotency_keys_before;
  alter table idempotency_keys_parts rename to idempotency_keys;
  drop table idempotency_keys_before;
  alter table idempotency_keys rename constraint idempotency_keys_parts_pkey to idempotency_keys_pkey;
  alter index idempotency_keys_parts_expires_at rename to idempotency_keys_expires_at;
  drop function copy_idempotency_key();
end
$$;
