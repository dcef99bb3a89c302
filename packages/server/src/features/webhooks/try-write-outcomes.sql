-- For processes of the previous release; later ones write by a statement of delivery-store.ts.
--
-- Writes the results of delivery attempts, each with its own outcome: written; lost, if the writer no longer holds
-- the lease; locked, if another transaction holds the endpoint's or the delivery's row, and nothing was done for it.
-- failing_since changes in the same statement, so that a recorded success ends it even if this process dies.
create or replace function try_write_outcomes(
  owner text, tenant_ids text[], sequences bigint[], successes boolean[], statuses integer[], errors text[], retries_in_ms double precision[]
) returns table (outcome text)
language plpgsql
as $$
declare
  free_ids text[];
begin
  select array_agg(f.tenant_id) into free_ids
  from (
    select w.tenant_id from webhooks w
    where w.tenant_id = any (tenant_ids) and w.lease_owner = owner
    order by w.tenant_id
    for no key update skip locked
  ) f;

  return query
  with input as (
    select * from unnest(tenant_ids, sequences, successes, statuses, errors, retries_in_ms)
      with ordinality as i (tenant_id, sequence, succeeded, response_status, error, retry_in_ms, ord)
  ), held as (
    select w.tenant_id, w.failing_since, coalesce(w.tenant_id = any (free_ids), false) as is_free
    from webhooks w
    where w.tenant_id = any (tenant_ids) and w.lease_owner = owner
  ), free as (
    select d.slot, d.tenant_id, d.sequence from webhook_deliveries d
    where (d.tenant_id, d.sequence) in (select i.tenant_id, i.sequence from input i join held h on h.tenant_id = i.tenant_id where h.is_free)
    for no key update skip locked
  ), written as (
    update webhook_deliveries d
    set status = case when i.succeeded then 'succeeded' when i.retry_in_ms is null then 'failed' else 'pending' end,
      tries = d.tries + 1, attempts = d.attempts + 1, response_status = i.response_status, error = i.error, last_attempt_at = now(),
      next_attempt_at = case when not i.succeeded then now() + make_interval(secs => i.retry_in_ms / 1000) end
    from input i join free f on f.tenant_id = i.tenant_id and f.sequence = i.sequence
    where d.slot = f.slot and d.tenant_id = f.tenant_id and d.sequence = f.sequence
    returning i.ord, d.tenant_id, i.succeeded
  ), marked as (
    update webhooks w
    set failing_since = case when n.any_succeeded then null else now() end
    from (select o.tenant_id, bool_or(o.succeeded) as any_succeeded from written o group by o.tenant_id) n
    where w.tenant_id = n.tenant_id and n.any_succeeded = (w.failing_since is not null)
  )
  select case
      when o.ord is not null then 'written'
      when h.tenant_id is null then 'lost'
      when not h.is_free then 'locked'
      when exists (select from webhook_deliveries d where d.tenant_id = i.tenant_id and d.sequence = i.sequence) then 'locked'
      else 'lost'
    end
  from input i
  left join held h on h.tenant_id = i.tenant_id
  left join written o on o.ord = i.ord
  order by i.ord;
end
$$;
