-- The request log: one row for each answered request of a key. Partitioned by slot like the deliveries (0060), so that old rows cost no
-- delete. Neither content nor credentials nor addresses are in it.

create sequence request_log_slot as smallint minvalue 0 maxvalue 4;

-- request_id is random, and the server makes it. A batch that is sent twice adds nothing.
create table request_log (
  tenant_id text collate "C" not null,
  request_id text collate "C" not null,
  created_at timestamptz(3) not null,
  method text not null,
  path text collate "C" not null,
  status smallint not null,
  code text,
  key_id text collate "C" not null,
  duration_ms double precision not null,
  origin text,
  slot smallint not null default coalesce(pg_sequence_last_value('request_log_slot'), 0)
) partition by list (slot);

create table request_log_0 partition of request_log (constraint request_log_0_pkey primary key (tenant_id, request_id)) for values in (0);
create table request_log_1 partition of request_log (constraint request_log_1_pkey primary key (tenant_id, request_id)) for values in (1);
create table request_log_2 partition of request_log (constraint request_log_2_pkey primary key (tenant_id, request_id)) for values in (2);
create table request_log_3 partition of request_log (constraint request_log_3_pkey primary key (tenant_id, request_id)) for values in (3);
create table request_log_4 partition of request_log (constraint request_log_4_pkey primary key (tenant_id, request_id)) for values in (4);

create index request_log_times on request_log (tenant_id, created_at, request_id);
-- Failed requests are few among many.
create index request_log_failures on request_log (tenant_id, created_at, request_id) where status >= 400;

-- A constant default rewrites no row. false: requests of the tenant are not logged.
alter table tenants add column logs_requests boolean not null default true;
