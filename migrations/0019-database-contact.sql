-- Since when the database can be reached: the sweeper notes every few seconds that it is there. A remote agent has 30 seconds to say that
-- it came; while it could not say so, they do not count.
create table database_contact (
  only_row boolean not null default true,
  since timestamptz(3) not null,
  last_at timestamptz(3) not null,
  constraint database_contact_pkey primary key (only_row),
  constraint database_contact_one_row check (only_row)
) with (fillfactor = 50);
