-- The root of the heads of all tenants' chains of events at the beginning of a day (UTC): a Merkle tree, made once a day,
-- and an entry of the transparency log.
create table event_roots (
  day date not null,
  chains bigint not null,
  root bytea not null,
  made_at timestamptz(3) not null default now(),
  constraint event_roots_pkey primary key (day),
  constraint event_roots_root check (octet_length(root) = 32)
);

-- As books_tiles: up to 256 nodes of one level, 8 bytes of the sum and 32 of the hash each. The sum counts the chains. A
-- tile of level 0 also has the heads, in the order of their tenants, and a salt of 32 bytes for each.
create table event_root_tiles (
  day date not null,
  level smallint not null,
  tile bigint not null,
  nodes bytea not null,
  salts bytea,
  heads text[] collate "C",
  first_tenant_id text collate "C",
  constraint event_root_tiles_pkey primary key (day, level, tile),
  constraint event_root_tiles_nodes check (octet_length(nodes) >= 40 and octet_length(nodes) <= 10240 and octet_length(nodes) % 40 = 0)
);

create index event_root_tiles_heads on event_root_tiles (day, first_tenant_id) where level = 0;
