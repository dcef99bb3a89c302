-- A trigger of event_outbox where items are spread over the nodes of a Citus cluster; atrium distribute creates it. A
-- transaction that changes an item also records an event, which is on the coordinator. Citus does not see writes to
-- tables that are not its own, and would commit on the worker first and then on the coordinator: a crash in between
-- would leave the item without its event, its count and its Idempotency-Key. It commits a transaction in two phases if
-- rows were copied to a spread table, even if there were none.
create or replace function commit_in_two_phases() returns trigger
language plpgsql
as $$
begin
  insert into items select i.* from unnest(array[]::items[]) i;
  return null;
end
$$;
