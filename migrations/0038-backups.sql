-- A backup reads the blobs that the rows of its snapshot name. While one has a hold that has not run out, none is
-- deleted. It renews the hold, so one that was killed does not keep blobs for ever.
create table blob_deletion_holds (
  id text collate "C" not null,
  held_until timestamptz(3) not null,
  constraint blob_deletion_holds_pkey primary key (id)
);

-- The restore that made this database, if one did. What may have been spent, revoked or removed after the snapshot is
-- closed until an operator has confirmed it.
create table restores (
  only_row boolean not null default true,
  snapshot_at timestamptz(3) not null,
  restored_at timestamptz(3) not null default now(),
  confirmed_at timestamptz(3),
  constraint restores_pkey primary key (only_row),
  constraint restores_one_row check (only_row)
);
