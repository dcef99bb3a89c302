-- Operators with credentials of their own, and a log of what operators, members and keys changed.

-- Of the token only the hash is stored. Names are unique among those that are not revoked.
create table operator_credentials (
  id text collate "C" not null,
  name text not null,
  hint text not null,
  token_hash bytea not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  constraint operator_credentials_pkey primary key (id),
  constraint operator_credentials_hash_unique unique (token_hash)
);

create unique index operator_credentials_name on operator_credentials (name) where revoked_at is null;

-- tenant_id: the tenant that the action concerns; null: the whole installation. No foreign key: entries outlive their tenant.
create table audit_log (
  id text collate "C" not null,
  created_at timestamptz(3) not null default now(),
  tenant_id text collate "C",
  actor_kind text not null,
  actor_id text collate "C",
  actor_name text,
  operation text not null,
  targets jsonb not null,
  outcome text not null,
  code text,
  address text,
  request_id text,
  constraint audit_log_pkey primary key (id),
  constraint audit_log_actor_known check (actor_kind in ('operator', 'member', 'key', 'anyone', 'system')),
  constraint audit_log_outcome_known check (outcome in ('done', 'refused')),
  constraint audit_log_refused_has_code check ((outcome = 'refused') = (code is not null))
);

create index audit_log_newest on audit_log (created_at, id);
create index audit_log_of_tenant on audit_log (tenant_id, created_at, id) where tenant_id is not null;

-- The audit log only grows.
create or replace function refuse_audit_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% of % is refused: the audit log is only added to', lower(tg_op), tg_table_name
    using errcode = 'restrict_violation';
end
$$;

-- Whoever removes entries records it: an entry of this operation removes what is older than its up_to, and counts it.
-- Entries leave the log in no other way. At most 10,000 at a time, so that the statement stays short.
create or replace function remove_audit_entries() returns trigger
language plpgsql
as $$
declare
  removed bigint;
begin
  if (new.targets->>'up_to')::timestamptz > now() - interval '30 days' then
    raise exception 'entries of the last 30 days are not removed' using errcode = 'restrict_violation';
  end if;
  delete from audit_log where id = any (array(
    select a.id from audit_log a where a.created_at < (new.targets->>'up_to')::timestamptz order by a.created_at, a.id limit 10000
  ));
  get diagnostics removed = row_count;
  new.targets := new.targets || jsonb_build_object('removed', removed);
  return new;
end
$$;

create trigger audit_log_stays before update or truncate on audit_log for each statement execute function refuse_audit_change();
-- In a trigger, it is remove_audit_entries that deletes.
create trigger audit_log_is_removed_on_record before delete on audit_log
  for each row when (pg_trigger_depth() = 0) execute function refuse_audit_change();
create trigger audit_log_records_removal before insert on audit_log
  for each row when (new.operation = 'removeAuditEntries') execute function remove_audit_entries();
