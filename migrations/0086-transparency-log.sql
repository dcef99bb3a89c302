-- One append-only log for the installation (C2SP tlog-tiles). A leaf is queued with its hash; integrating gives it a position. A leaf never
-- changes and is never removed, and the same entry is in the log once.
create table log_leaves (
  leaf_hash bytea not null,
  entry bytea not null,
  queued_at timestamptz(3) not null default now(),
  position bigint,
  constraint log_leaves_pkey primary key (leaf_hash),
  constraint log_leaves_hash check (octet_length(leaf_hash) = 32),
  constraint log_leaves_entry check (octet_length(entry) <= 65535)
);

create unique index log_leaves_position on log_leaves (position) where position is not null;
create index log_leaves_waiting on log_leaves (queued_at, leaf_hash) where position is null;

-- The hashes of a tile, 32 bytes each, at most 256. A tile only grows, so each of its partial forms is a prefix of it.
create table log_tiles (
  level smallint not null,
  tile bigint not null,
  hashes bytea not null,
  constraint log_tiles_pkey primary key (level, tile),
  constraint log_tiles_hashes check (octet_length(hashes) >= 32 and octet_length(hashes) <= 8192 and octet_length(hashes) % 32 = 0)
);

-- The tree that all integrated leaves make. Whoever integrates locks this row: there is one writer.
create table log_tree (
  only_row boolean not null default true,
  size bigint not null,
  root bytea not null,
  -- When a witness last answered what it has seen. A restored database signs nothing before one has.
  heard_at timestamptz(3),
  -- Why no checkpoint is signed any more: a witness has proof that more was signed than this database has.
  refusal text,
  constraint log_tree_pkey primary key (only_row),
  constraint log_tree_one_row check (only_row)
);

insert into log_tree (size, root) values (0, sha256(''));

-- The last checkpoint of each origin, which follows the address of the installation.
create table log_checkpoints (
  origin text collate "C" not null,
  size bigint not null,
  signed text not null,
  published_at timestamptz(3) not null default now(),
  constraint log_checkpoints_pkey primary key (origin)
);

-- The last cosignature of each witness: a signature line of the checkpoint with this size.
create table log_cosignatures (
  origin text collate "C" not null,
  witness text collate "C" not null,
  size bigint not null,
  line text not null,
  cosigned_at timestamptz(3) not null default now(),
  constraint log_cosignatures_pkey primary key (origin, witness)
);

-- How far a list of objects has been queued.
create table log_sources (
  name text collate "C" not null,
  position bigint not null,
  constraint log_sources_pkey primary key (name)
);
