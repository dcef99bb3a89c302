-- Each statement of a function looks anew at what is committed: after the lock is had, the remove that held it is seen.
create or replace function refuse_removed_name() returns trigger language plpgsql as $$
begin
  perform lock_room_name(new.room);
  if exists (select from removed_rooms r where r.room = new.room) then return null; end if;
  return new;
end
$$;
