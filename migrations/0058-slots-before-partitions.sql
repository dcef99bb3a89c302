-- The outbox and the deliveries become partitioned by slot, in three migrations: this one names the slot of the existing rows, 0059 checks
-- it without a lock, and 0060 makes each table the partition 0 of a new one. docs/decisions/0039 has the reasons.

-- A constant default is stored once, so no row is rewritten.
alter table event_outbox add column slot smallint not null default 0;
alter table event_outbox add constraint event_outbox_0_slot check (slot = 0) not valid;
alter table webhook_deliveries add column slot smallint not null default 0;
alter table webhook_deliveries add constraint webhook_deliveries_0_slot check (slot = 0) not valid;

-- The slot that new rows are written to: the sequence's value, 0 at first. A sequence is read without a lock and without a row version.
create sequence event_outbox_slot as smallint minvalue 0 maxvalue 2;
create sequence webhook_deliveries_slot as smallint minvalue 0 maxvalue 4;

-- Since when a slot is written to, and since when no longer. Both null: the slot is empty.
create table partition_slots (
  name text collate "C" not null,
  slot smallint not null,
  opened_at timestamptz(3),
  closed_at timestamptz(3),
  constraint partition_slots_pkey primary key (name, slot),
  constraint partition_slots_closed_after_opened check (closed_at is null or opened_at is not null)
);

-- The previous release deletes the rows of a tenant by ctid, which names one row of each partition. While its processes still run, and after
-- a return to it, it does not get the lease of that sweep. This release runs the sweep by another name.
create function refuse_sweep_by_ctid() returns trigger
language plpgsql
as $$
begin
  return null;
end
$$;

create trigger sweep_leases_not_by_ctid before update on sweep_leases
  for each row when (old.name = 'deleted tenants' and new.until is not null)
  execute function refuse_sweep_by_ctid();
