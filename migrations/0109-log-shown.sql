-- The entry of the log for what is shown now, by its type: a page that was shown before and is shown again has an old entry.
create table log_shown (
  type text not null,
  leaf_hash bytea not null,
  constraint log_shown_pkey primary key (type)
);
