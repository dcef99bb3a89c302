-- Reads both tables without blocking writes. The next migration relies on it instead of reading them under a lock.
alter table event_outbox validate constraint event_outbox_0_slot;
alter table webhook_deliveries validate constraint webhook_deliveries_0_slot;
