-- Removes up to batch_ rooms from the list of new ones if they were created more than days_ ago, and deletes those
-- that are still unused: a concurrent append locks the row, and is seen. Deletes old counts. Returns how many rooms
-- are left to check, at most batch_; null if another process is sweeping.
create or replace function sweep_space(days_ integer, batch_ integer) returns integer language plpgsql as $$
declare
  due record;
  looked integer := 0;
  freed bigint := 0;
  forgotten integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('atrium.space sweep', 0)) then return null; end if;
  for due in
    select n.made_on, n.room from new_rooms n
    where days_ > 0 and n.made_on < (now() at time zone 'UTC')::date - days_
    order by n.made_on, n.room limit batch_
  loop
    delete from new_rooms n where n.made_on = due.made_on and n.room = due.room;
    freed := freed + coalesce(free_room(due.room, true), 0);
    looked := looked + 1;
  end loop;
  -- Last, because every writer counts in this row.
  if freed > 0 then update space_total set bytes = greatest(0, bytes - freed); end if;
  with old as (
    select u.starts_at, u.what, u.caller from space_use u
    where u.starts_at < now() - interval '2 days' order by u.starts_at, u.what, u.caller limit batch_
  ), taken as (
    delete from space_use u using old o where u.starts_at = o.starts_at and u.what = o.what and u.caller = o.caller returning u.caller
  )
  select count(*) into forgotten from taken;
  return greatest(looked, forgotten);
end
$$;
