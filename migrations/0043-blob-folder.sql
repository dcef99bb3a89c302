-- The folder that has the files, if they are stored on disk, by the id in a file of that folder. A process with another
-- folder, such as one on another machine, would not find what the others store, so its start is refused.
create table blob_folders (
  only_row boolean not null default true,
  id text collate "C" not null,
  recorded_at timestamptz(3) not null default now(),
  constraint blob_folders_pkey primary key (only_row),
  constraint blob_folders_one_row check (only_row)
);
