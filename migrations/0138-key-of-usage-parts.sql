-- contract: 0103
-- While a transaction with an old snapshot is open, a look-up by a key visits all versions of the row since it began (0067).
-- The constraint keeps its name: place_checked_items uses it before and after it is replaced.
alter table usage_items drop constraint usage_items_pkey,
  add constraint usage_items_pkey primary key using index usage_items_parts;
