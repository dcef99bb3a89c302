-- Event streams read the log by collection, and public ones only what concerns open items.

-- Whether anyone could see the item before. Only then may a public stream say that it was hidden or deleted: of an item that was never
-- open it must not even disclose that it exists.
alter table event_outbox add column was_open boolean;

-- true: the item is open now; false: it was, and is no longer; null: nothing that a public stream sends. number_events sets it.
alter table events add column open_item boolean;

-- A stream that resumes reads only its own collection's events, however busy the tenant is.
create index events_collection on events (tenant_id, (data->>'collection_id'), sequence) where data->>'collection_id' is not null;
create index events_open_items on events (tenant_id, (data->>'collection_id'), sequence) where open_item is not null;

-- null: the installation's.
alter table tenant_limits add column open_streams bigint;
alter table tenant_limits add constraint tenant_limits_streams_not_negative check (open_streams >= 0);
