-- What falls due by the clock is done by one process at a time: the one that holds the lease of that sweep. ran_at: when it was last done
-- to the end. A row and no advisory lock, because a lock belongs to a connection, and a pooler gives that to others between transactions.
create table sweep_leases (
  name text collate "C" not null,
  holder text collate "C",
  until timestamptz(3),
  ran_at timestamptz(3),
  constraint sweep_leases_pkey primary key (name)
) with (fillfactor = 50);
