-- A deletion that fails is due again and again, so due_at does not say how long it has waited.
alter table blob_deletions add column queued_at timestamptz(3) not null default now();
