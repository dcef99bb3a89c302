-- Tenants that are deleted, after a delay in which an operator can cancel it. The row stays: it says what became of the id. No row of it
-- names a person.
create table tenant_deletions (
  tenant_id text collate "C" not null,
  -- What a cancellation restores.
  status_before text not null,
  requested_at timestamptz(3) not null default now(),
  due_at timestamptz(3) not null,
  started_at timestamptz(3),
  blobs_queued_at timestamptz(3),
  finished_at timestamptz(3),
  rows_removed bigint not null default 0,
  constraint tenant_deletions_pkey primary key (tenant_id),
  constraint tenant_deletions_tenant_exists foreign key (tenant_id) references tenants (id),
  constraint tenant_deletions_status_known check (status_before in ('active', 'suspended')),
  constraint tenant_deletions_in_order check (
    (finished_at is null or blobs_queued_at is not null) and (blobs_queued_at is null or started_at is not null)
  )
);

create index tenant_deletions_due on tenant_deletions (due_at) where finished_at is null;

-- The memo of a grant is the one free text in the ledger. The deletion of its tenant removes it; nothing else of a transfer changes.
create or replace trigger ledger_transfers_stay before delete or truncate on ledger_transfers
  for each statement execute function refuse_ledger_change();
create trigger ledger_transfers_only_forget_memos before update on ledger_transfers
  for each row when (
    new.memo is not null
    or (old.tenant_id, old.id, old.kind, old.from_id, old.to_tenant_id, old.to_id, old.amount, old.actor, old.created_at)
      is distinct from (new.tenant_id, new.id, new.kind, new.from_id, new.to_tenant_id, new.to_id, new.amount, new.actor, new.created_at)
  )
  execute function refuse_ledger_change();

-- More limits that an operator can set for one tenant.
alter table tenant_limits add column paints_per_month bigint;
alter table tenant_limits add column rate_percent bigint;
alter table tenant_limits add column active_sessions bigint;
alter table tenant_limits add column pending_launches bigint;
alter table tenant_limits add column open_uploads bigint;
alter table tenant_limits add column open_upload_bytes bigint;
alter table tenant_limits add column open_uploads_in_collection bigint;
alter table tenant_limits add column active_generations bigint;
alter table tenant_limits add constraint tenant_limits_more_not_negative check (
  least(paints_per_month, rate_percent, active_sessions, pending_launches, open_uploads, open_upload_bytes,
    open_uploads_in_collection, active_generations) >= 0
) not valid;
