-- concurrently
-- A refund names its payment, and no checkout.
create index concurrently checkouts_payment on checkouts (payment) where payment is not null;
