-- Further webhook endpoints of a tenant, beside the one in webhooks, which the previous release knows: a row that it would see here, it
-- would send to the wrong place. docs/decisions/0048 has the reasons. The tables have the shape of webhooks, webhook_secrets and
-- webhook_deliveries (0060) with the endpoint in their keys.

create table webhook_endpoints (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  url text not null,
  events text[],
  description text,
  enabled boolean not null,
  failures integer not null default 0,
  failing_since timestamptz(3),
  resume_at timestamptz(3),
  lease_owner text collate "C",
  lease_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint webhook_endpoints_pkey primary key (tenant_id, endpoint_id),
  constraint webhook_endpoints_tenant_exists foreign key (tenant_id) references tenants (id)
) with (fillfactor = 50);

create table webhook_endpoint_secrets (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  id text collate "C" not null,
  sealed bytea not null,
  signs_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  constraint webhook_endpoint_secrets_pkey primary key (tenant_id, id),
  constraint webhook_endpoint_secrets_endpoint_exists foreign key (tenant_id, endpoint_id)
    references webhook_endpoints (tenant_id, endpoint_id) on delete cascade
);
create unique index webhook_endpoint_secrets_one_current on webhook_endpoint_secrets (tenant_id, endpoint_id) where signs_until is null;

create sequence webhook_endpoint_deliveries_slot as smallint minvalue 0 maxvalue 4;

create table webhook_endpoint_deliveries (
  tenant_id text collate "C" not null,
  endpoint_id text collate "C" not null,
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
  attempt_log jsonb,
  slot smallint not null default coalesce(pg_sequence_last_value('webhook_endpoint_deliveries_slot'), 0),
  constraint webhook_endpoint_deliveries_status_known check (status in ('pending', 'succeeded', 'failed')),
  constraint webhook_endpoint_deliveries_pending_is_due check ((status = 'pending') = (next_attempt_at is not null))
) partition by list (slot);

create table webhook_endpoint_deliveries_0 partition of webhook_endpoint_deliveries
  (constraint webhook_endpoint_deliveries_0_pkey primary key (tenant_id, endpoint_id, sequence)) for values in (0);
create table webhook_endpoint_deliveries_1 partition of webhook_endpoint_deliveries
  (constraint webhook_endpoint_deliveries_1_pkey primary key (tenant_id, endpoint_id, sequence)) for values in (1);
create table webhook_endpoint_deliveries_2 partition of webhook_endpoint_deliveries
  (constraint webhook_endpoint_deliveries_2_pkey primary key (tenant_id, endpoint_id, sequence)) for values in (2);
create table webhook_endpoint_deliveries_3 partition of webhook_endpoint_deliveries
  (constraint webhook_endpoint_deliveries_3_pkey primary key (tenant_id, endpoint_id, sequence)) for values in (3);
create table webhook_endpoint_deliveries_4 partition of webhook_endpoint_deliveries
  (constraint webhook_endpoint_deliveries_4_pkey primary key (tenant_id, endpoint_id, sequence)) for values in (4);

create index webhook_endpoint_deliveries_due on webhook_endpoint_deliveries (tenant_id, endpoint_id, next_attempt_at, sequence)
  where status = 'pending';
create index webhook_endpoint_deliveries_id on webhook_endpoint_deliveries (tenant_id, endpoint_id, id);

-- No row is rewritten. The previous release leaves these columns alone.
alter table webhooks add column description text;
alter table webhook_deliveries add column attempt_log jsonb;
