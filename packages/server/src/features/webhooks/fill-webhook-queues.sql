-- Called by `atrium distribute` before it spreads the deliveries: no process runs.
create or replace function fill_webhook_queues() returns void
language sql
as $$
  insert into webhook_queues (tenant_id, endpoint_id, due_at)
  select d.tenant_id, 'default', min(d.next_attempt_at) from webhook_deliveries d where d.status = 'pending' group by d.tenant_id
  union all
  select d.tenant_id, d.endpoint_id, min(d.next_attempt_at) from webhook_endpoint_deliveries d
  where d.status = 'pending' group by d.tenant_id, d.endpoint_id
  on conflict on constraint webhook_queues_pkey do update set due_at = excluded.due_at
$$;
