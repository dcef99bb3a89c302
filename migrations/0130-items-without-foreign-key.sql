-- contract: 0103
-- The key's check took an eighth of the time of an addition. add_checked_items and deleteCollection keep its promise, as they
-- do where items are spread over a Citus cluster: both hold the lock of the collection's row (0069).
alter table items drop constraint if exists items_collection_exists;
