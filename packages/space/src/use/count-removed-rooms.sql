-- Takes the bytes of removed rooms off the total.
create or replace function count_removed_rooms() returns trigger language plpgsql as $$
begin
  update space_total set bytes = greatest(0, space_total.bytes - (select coalesce(sum(g.bytes), 0) from gone g))
  where exists (select from gone);
  return null;
end
$$;
