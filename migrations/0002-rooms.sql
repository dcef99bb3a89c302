-- The Space service's rooms. What is said in them is in the lines alone, sealed to a key that is not here.
-- count, etag and policy say where the chain stands; no time, no account, no title.

create table rooms (
  room text collate "C" not null,
  count integer not null,
  etag text collate "C" not null,
  bytes bigint not null,
  policy_seq integer not null,
  policy_hash text collate "C" not null,
  constraint rooms_pkey primary key (room),
  constraint rooms_policy_is_a_line check (policy_seq >= 0 and policy_seq < count)
) with (fillfactor = 70);

-- dedupe is a keyed hash of author and client_id: equal for a repeat, and telling nothing else.
create table room_lines (
  room text collate "C" not null,
  seq integer not null,
  line text collate "C" not null,
  dedupe text collate "C",
  constraint room_lines_pkey primary key (room, seq),
  constraint room_lines_room_exists foreign key (room) references rooms (room) on delete cascade
);

-- Names of rooms that their owner removed: a late write must not make an open room where a closed one was.
create table removed_rooms (
  room text collate "C" not null,
  constraint removed_rooms_pkey primary key (room)
);

-- Ciphertext does not compress: trying costs time at every write.
alter table room_lines alter column line set storage external;

create unique index room_lines_dedupe on room_lines (room, dedupe) where dedupe is not null;
