-- What only a newer release can do. The caller sees a conflict, and answers 503.
create or replace function leave_to_newer_release() returns trigger
language plpgsql
as $$
begin
  raise exception '% of % waits for a process of the new release', lower(tg_op), tg_table_name
    using errcode = 'serialization_failure';
end
$$;
