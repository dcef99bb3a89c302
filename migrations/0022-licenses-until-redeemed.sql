-- A license key stays readable until it is redeemed: an answer that shows it may be lost. license_account is the account that holds its credits,
-- by which the redemption finds the checkout and erases the key. It is null for a key that was sold before this migration: that one is erased
-- when it is next asked for.
alter table checkouts add column license_account text collate "C";

create index checkouts_license_account on checkouts (tenant_id, license_account) where license_sealed is not null;
