-- Each statement of a function has a new snapshot, so after the lock is taken, the remove that held it is visible.
create or replace function refuse_removed_name() returns trigger language plpgsql as $$
begin
  perform lock_room_name(new.room);
  if exists (select from removed_rooms r where r.room = new.room) then return null; end if;
  return new;
end
$$;
