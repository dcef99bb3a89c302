-- Takes up to batch_ rooms off the list of new ones that were made more than days_ ago, and removes those of them that are still unused: an append
-- at this moment locks the row, and is seen. Forgets what was used long ago. Answers how many are left to look at, at the most batch_; null when
-- another process is at it.
create or replace function sweep_space(days_ integer, batch_ integer) returns integer language plpgsql as $$
declare
  looked integer;
  forgotten integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('atrium.space sweep', 0)) then return null; end if;
  with due as (
    select n.made_on, n.room from new_rooms n
    where days_ > 0 and n.made_on < (now() at time zone 'UTC')::date - days_
    order by n.made_on, n.room limit batch_
  ), taken as (
    delete from new_rooms n using due d where n.made_on = d.made_on and n.room = d.room returning n.room
  ), gone as (
    delete from rooms r using taken t where r.room = t.room and r.count = 1
  )
  select count(*) into looked from taken;
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
