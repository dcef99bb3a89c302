-- Adds items, each with its own outcome, in the order of the input. place_checked_items explains inputs and outcomes.
--
-- Items may be spread over the nodes of a Citus cluster. They are therefore inserted by a statement of their own that
-- names no other table.
create or replace function add_checked_items(
  tenant_ids text[], collection_ids text[], ids text[], types text[], contents json[], authors text[], token_hashes bytea[],
  scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamptz[]
) returns table (outcome text)
language plpgsql
as $$
declare
  outcomes text[];
  seqs bigint[];
  accesses text[];
begin
  select array_agg(p.outcome order by p.place), array_agg(p.seq order by p.place), array_agg(p.access order by p.place)
  into outcomes, seqs, accesses
  from place_checked_items(
    tenant_ids, collection_ids, ids, types, token_hashes, scopes, key_hashes, body_hashes, answers, expiries
  ) p;

  insert into items (tenant_id, collection_id, id, seq, type, content, author, access)
  select i.tenant_id, i.collection_id, i.id, i.seq, i.type, i.content, i.author, i.access
  from unnest(tenant_ids, collection_ids, ids, seqs, types, contents, authors, accesses)
    as i (tenant_id, collection_id, id, seq, type, content, author, access)
  where i.seq is not null;

  return query select unnest(outcomes);
end
$$;
