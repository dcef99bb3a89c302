-- Rows can only be added to the ledger; existing rows never change.
create or replace function refuse_ledger_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% of % is refused: the books are only added to', lower(tg_op), tg_table_name
    using errcode = 'restrict_violation';
end
$$;
