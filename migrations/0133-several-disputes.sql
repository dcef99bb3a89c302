-- By the provider's id of the dispute: what was disputed of the payment (amount), and what of it came back because the
-- dispute was won (reinstated). disputed_amount and reinstated_amount are the sums. Where an earlier release counted, they
-- are larger.
alter table checkouts add column disputes json not null default '{}';

create function leave_to_newer_release() returns trigger
language plpgsql
as $$
begin
  raise exception '% of % waits for a process of the new release', lower(tg_op), tg_table_name
    using errcode = 'serialization_failure';
end
$$;

-- The release before migration 0131 does not know that a dispute was won. When one of its reports is repeated, or another
-- one arrives, it would count the credits as returned once more, and take too many or none for it. Its transaction is refused
-- as a conflict, and it answers 503. The provider sends the report again, for days, until a newer process has it.
create trigger checkouts_returned_credits_fit before update on checkouts
  for each row when (new.reinstated_amount > 0 and new.returned_credits > old.returned_credits and new.returned_credits <>
    least(new.credits, floor(new.credits::numeric
      * (new.refunded_amount + greatest(0, new.disputed_amount - new.reinstated_amount)) / new.paid_amount)))
  execute function leave_to_newer_release();
