-- Uploads, the addresses of stored artifacts, and the removal of what is stored.

-- An upload that is not complete: what was announced. Its row goes with the transaction that makes the artifact ready or failed, or with the
-- artifact. Whoever checks the bytes holds a lease, and what comes of it is written only while the lease is its own.
create table artifact_uploads (
  tenant_id text collate "C" not null,
  collection_id text collate "C" not null,
  artifact_id text collate "C" not null,
  mime text not null,
  bytes bigint not null,
  sha256 text,
  tries integer not null default 0,
  lease_owner text collate "C",
  lease_until timestamptz(3),
  expires_at timestamptz(3) not null,
  constraint artifact_uploads_pkey primary key (tenant_id, collection_id, artifact_id),
  constraint artifact_uploads_artifact_exists foreign key (tenant_id, collection_id, artifact_id)
    references artifacts (tenant_id, collection_id, id) on delete cascade,
  constraint artifact_uploads_bytes_positive check (bytes > 0)
);

create index artifact_uploads_expires_at on artifact_uploads (expires_at);

-- Whoever asks for the bytes knows no more than the artifact's id.
create index artifacts_id on artifacts (id);

-- What is to be removed from the blob store, written by the transaction after which nothing refers to it any more: a key, or a prefix that ends
-- in a slash. While due_at lies ahead another one is at it, or the store was away.
create table blob_deletions (
  tenant_id text collate "C" not null,
  target text collate "C" not null,
  due_at timestamptz(3) not null default now(),
  constraint blob_deletions_pkey primary key (tenant_id, target)
);

create index blob_deletions_due_at on blob_deletions (due_at);

-- How far the search for blobs that nothing refers to has come, in the order of their keys. One row.
create table blob_search (
  name text not null default 'orphans',
  after_key text collate "C" not null default '',
  due_at timestamptz(3) not null default now(),
  constraint blob_search_pkey primary key (name)
);

insert into blob_search (name) values ('orphans');
