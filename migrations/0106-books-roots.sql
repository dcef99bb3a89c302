-- The root of the books at the beginning of a day (UTC): a Merkle tree of the sums of all balances. Made once a day, and
-- an entry of the transparency log.
create table books_roots (
  day date not null,
  accounts bigint not null,
  total bigint not null,
  root bytea not null,
  made_at timestamptz(3) not null default now(),
  constraint books_roots_pkey primary key (day),
  constraint books_roots_root check (octet_length(root) = 32)
);

-- Up to 256 nodes of one level: 8 bytes of the sum and 32 of the hash each. A tile of level 0 also has the accounts, in
-- their order, and a salt of 32 bytes for each; first_tenant_id and first_id are the first of them.
create table books_tiles (
  day date not null,
  level smallint not null,
  tile bigint not null,
  nodes bytea not null,
  salts bytea,
  accounts text[] collate "C",
  first_tenant_id text collate "C",
  first_id text collate "C",
  constraint books_tiles_pkey primary key (day, level, tile),
  constraint books_tiles_nodes check (octet_length(nodes) >= 40 and octet_length(nodes) <= 10240 and octet_length(nodes) % 40 = 0)
);

create index books_tiles_accounts on books_tiles (day, first_tenant_id, first_id) where level = 0;
