-- For processes of the previous release, which have checked the token of each item. The next release removes it, and the
-- place_items that it called.
create or replace function add_counted_items(
  tenant_ids text[], collection_ids text[], ids text[], types text[], contents json[], authors text[],
  scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamptz[]
) returns table (outcome text)
language sql
as $$
  select outcome from add_checked_items(
    tenant_ids, collection_ids, ids, types, contents, authors, array_fill(null::bytea, array[cardinality(ids)]),
    scopes, key_hashes, body_hashes, answers, expiries
  )
$$;
