-- Each table becomes the partition 0 of a table with its name, so that the previous release and this one write to the same rows. No row is
-- read or moved: the validated check proves that all are of slot 0. docs/decisions/0039 has the reasons.
--
-- Keys and indexes belong to each partition: a key of the whole table would have to contain the slot. What is unique in a partition is unique
-- in the table, because position and sequence are given once, and id is random or the event's.

-- First what needs no lock on the tables.

create sequence event_outbox_positions;

create table event_outbox_slots (
  tenant_id text collate "C" not null,
  position bigint not null default nextval('event_outbox_positions'),
  id text collate "C" not null,
  type text not null,
  data json not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  was_open boolean,
  slot smallint not null default coalesce(pg_sequence_last_value('event_outbox_slot'), 0)
) partition by list (slot);

create table event_outbox_1 partition of event_outbox_slots (constraint event_outbox_1_pkey primary key (tenant_id, position))
  for values in (1) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create table event_outbox_2 partition of event_outbox_slots (constraint event_outbox_2_pkey primary key (tenant_id, position))
  for values in (2) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table webhook_deliveries_slots (
  tenant_id text collate "C" not null,
  sequence bigint not null,
  id text collate "C" not null,
  status text not null default 'pending',
  tries integer not null default 0,
  attempts integer not null default 0,
  response_status integer,
  error text,
  created_at timestamptz(3) not null default now(),
  last_attempt_at timestamptz(3),
  next_attempt_at timestamptz(3),
  slot smallint not null default coalesce(pg_sequence_last_value('webhook_deliveries_slot'), 0),
  constraint webhook_deliveries_status_known check (status in ('pending', 'succeeded', 'failed')),
  constraint webhook_deliveries_pending_is_due check ((status = 'pending') = (next_attempt_at is not null))
) partition by list (slot);

create table webhook_deliveries_1 partition of webhook_deliveries_slots (
  constraint webhook_deliveries_1_pkey primary key (tenant_id, sequence),
  constraint webhook_deliveries_1_id_unique unique (tenant_id, id)
) for values in (1);
create index webhook_deliveries_1_due on webhook_deliveries_1 (tenant_id, next_attempt_at, sequence) where status = 'pending';
create table webhook_deliveries_2 partition of webhook_deliveries_slots (
  constraint webhook_deliveries_2_pkey primary key (tenant_id, sequence),
  constraint webhook_deliveries_2_id_unique unique (tenant_id, id)
) for values in (2);
create index webhook_deliveries_2_due on webhook_deliveries_2 (tenant_id, next_attempt_at, sequence) where status = 'pending';
create table webhook_deliveries_3 partition of webhook_deliveries_slots (
  constraint webhook_deliveries_3_pkey primary key (tenant_id, sequence),
  constraint webhook_deliveries_3_id_unique unique (tenant_id, id)
) for values in (3);
create index webhook_deliveries_3_due on webhook_deliveries_3 (tenant_id, next_attempt_at, sequence) where status = 'pending';
create table webhook_deliveries_4 partition of webhook_deliveries_slots (
  constraint webhook_deliveries_4_pkey primary key (tenant_id, sequence),
  constraint webhook_deliveries_4_id_unique unique (tenant_id, id)
) for values in (4);
create index webhook_deliveries_4_due on webhook_deliveries_4 (tenant_id, next_attempt_at, sequence) where status = 'pending';

-- From here on writers wait, for the few milliseconds that changes of the catalog take.

alter table event_outbox rename to event_outbox_0;
alter table event_outbox_0 rename constraint event_outbox_pkey to event_outbox_0_pkey;
select setval('event_outbox_positions', nextval(pg_get_serial_sequence('event_outbox_0', 'position')), false);
-- PostgreSQL 17 refuses a partition with an identity column of its own.
alter table event_outbox_0 alter column position drop identity;
alter table event_outbox_slots rename to event_outbox;
alter table event_outbox attach partition event_outbox_0 for values in (0);

alter table webhook_deliveries rename to webhook_deliveries_0;
alter table webhook_deliveries_0 rename constraint webhook_deliveries_pkey to webhook_deliveries_0_pkey;
alter table webhook_deliveries_0 rename constraint webhook_deliveries_id_unique to webhook_deliveries_0_id_unique;
alter index webhook_deliveries_due rename to webhook_deliveries_0_due;
alter table webhook_deliveries_slots rename to webhook_deliveries;
alter table webhook_deliveries attach partition webhook_deliveries_0 for values in (0);
