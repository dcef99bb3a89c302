-- Adds items, each with its own outcome, in the order of the input. locked: somebody holds the collection's row, and nothing of that item was done.
--
-- The collections are locked in one order everywhere, so that two batches cannot wait for each other. Nothing is added after a close was answered;
-- seq is without gaps and in the order of commits; item_count is kept once a collection and batch. An item whose idempotency row was there already is
-- left out; where that row's transaction still runs, this waits for its end. Those rows are inserted in the order of their keys, likewise. Each added item leaves
-- its event in the outbox. The access of an added item is the collection's item_access at that moment, read under its lock. The event's id is made of the item's, which is as random and as unique: so the batch needs no further parameter.
create or replace function try_add_items(
  tenant_ids text[], collection_ids text[], ids text[], types text[], contents json[], authors text[],
  scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamptz[]
) returns table (outcome text)
language plpgsql
as $$
declare
  free_ids text[];
begin
  select array_agg(f.id) into free_ids
  from (
    select c.id from collections c
    where (c.tenant_id, c.id) in (select * from unnest(tenant_ids, collection_ids))
    order by c.tenant_id, c.id
    for no key update skip locked
  ) f;

  return query
  with input as (
    select * from unnest(tenant_ids, collection_ids, ids, types, contents, authors, scopes, key_hashes, body_hashes, answers, expiries)
      with ordinality as i (tenant_id, collection_id, id, type, content, author, scope, key_hash, body_hash, answer, expires_at, ord)
  ), target as (
    select c.tenant_id, c.id, c.state, c.last_seq, c.item_access, coalesce(c.id = any (free_ids), false) as is_free
    from collections c
    where (c.tenant_id, c.id) in (select i.tenant_id, i.collection_id from input i)
  ), claimed as (
    insert into idempotency_keys as k (scope, key_hash, body_hash, answer, expires_at)
    select i.scope, i.key_hash, i.body_hash, i.answer, i.expires_at
    from input i
    join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
    where i.scope is not null and t.is_free and t.state = 'open'
    order by i.scope, i.key_hash
    on conflict on constraint idempotency_keys_pkey
      do update set body_hash = excluded.body_hash, answer = excluded.answer, expires_at = excluded.expires_at
      where k.expires_at <= now()
    returning k.scope, k.key_hash
  ), accepted as (
    select i.*, t.item_access, t.last_seq + row_number() over (partition by i.tenant_id, i.collection_id order by i.ord) as seq
    from input i
    join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
    left join claimed k on k.scope = i.scope and k.key_hash = i.key_hash
    where t.is_free and t.state = 'open' and (i.scope is null or k.scope is not null)
  ), inserted as (
    insert into items (tenant_id, collection_id, id, seq, type, content, author, access)
    select a.tenant_id, a.collection_id, a.id, a.seq, a.type, a.content, a.author, a.item_access from accepted a
  ), told as (
    insert into event_outbox (tenant_id, id, type, data)
    select a.tenant_id, 'evt_' || substr(a.id, 5), 'item.created', json_build_object('collection_id', a.collection_id, 'item_id', a.id,
      'type', a.type, 'approved', true, 'archived', false, 'hero', false, 'access', a.item_access)
    from accepted a
    order by a.ord
  ), counted as (
    update collections c set item_count = c.item_count + a.added, last_seq = c.last_seq + a.added
    from (select tenant_id, collection_id, count(*) as added from accepted group by tenant_id, collection_id) a
    where c.tenant_id = a.tenant_id and c.id = a.collection_id
  )
  select case
      when t.id is null then 'not_found'
      when not t.is_free then 'locked'
      when a.ord is not null then 'added'
      when t.state <> 'open' then 'not_open'
      else 'claim_taken'
    end
  from input i
  left join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
  left join accepted a on a.ord = i.ord
  order by i.ord;
end
$$;
