-- The items of a collection on a day are counted in several rows, each for some 128 of them: place_checked_items. The key
-- has the part from 0136 on.
alter table usage_items add column part bigint not null default 0;
