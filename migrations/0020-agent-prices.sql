-- A price that was raised a moment ago is not charged to a buyer who may have been shown the one before. price_before is the lowest price of the
-- ten minutes before the raise, and counts for ten minutes after it; both go when the price falls to it again.
alter table agents
  add column price_before bigint,
  add column price_raised_at timestamptz(3),
  add constraint agents_price_before_fits
    check ((price_before is null) = (price_raised_at is null) and price_before >= 0 and price_before < price_credits);
