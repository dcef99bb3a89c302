-- A published epoch never changes: tokens were signed with its key.
create or replace function refuse_epoch_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% of % is refused: an epoch is set once', lower(tg_op), tg_table_name
    using errcode = 'restrict_violation';
end
$$;
