-- Each event has the hash of the one before, so that a reader can prove that none is missing.

-- null: numbered by a release without the chain. hash_before: of the event before, which may be deleted; null: the chain begins here.
alter table events add column hash bytea;
alter table events add column hash_before bytea;

-- The end of the chain. Behind last_sequence: a process of the previous release numbered the events after it, and their hashes follow.
alter table event_heads add column chain_sequence bigint;
alter table event_heads add column chain_hash bytea;
