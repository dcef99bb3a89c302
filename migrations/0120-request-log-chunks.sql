-- The request log in chunks: what one process answered for one tenant within a second or so, in one row. A row and two index entries for each
-- request took an eighth of the processor time of a small one (0042). Partitioned by slot like request_log, which the previous release still
-- writes, which is still read, and which goes one release later.
create sequence request_log_chunks_slot as smallint minvalue 0 maxvalue 4;

create table request_log_chunks (
  tenant_id text collate "C" not null,
  -- The newest entry. All entries are of the same minute (UTC).
  last_at timestamptz(3) not null,
  -- The request id of the first entry: a chunk that is sent twice adds nothing.
  id text collate "C" not null,
  first_at timestamptz(3) not null,
  -- When the first of these requests arrived, as their ids say.
  started_at timestamptz(3) not null,
  requests integer not null,
  refused integer not null,
  failed integer not null,
  -- Up to eight of the entries at random, in milliseconds.
  duration_sample double precision[] not null,
  -- An array for each: request id, milliseconds since first_at, method, path, status, milliseconds of the answer, key id, code, origin.
  entries json not null,
  slot smallint not null default coalesce(pg_sequence_last_value('request_log_chunks_slot'), 0)
) partition by list (slot);

create table request_log_chunks_0 partition of request_log_chunks
  (constraint request_log_chunks_0_pkey primary key (tenant_id, last_at, id) include (requests, refused, failed)) for values in (0);
create table request_log_chunks_1 partition of request_log_chunks
  (constraint request_log_chunks_1_pkey primary key (tenant_id, last_at, id) include (requests, refused, failed)) for values in (1);
create table request_log_chunks_2 partition of request_log_chunks
  (constraint request_log_chunks_2_pkey primary key (tenant_id, last_at, id) include (requests, refused, failed)) for values in (2);
create table request_log_chunks_3 partition of request_log_chunks
  (constraint request_log_chunks_3_pkey primary key (tenant_id, last_at, id) include (requests, refused, failed)) for values in (3);
create table request_log_chunks_4 partition of request_log_chunks
  (constraint request_log_chunks_4_pkey primary key (tenant_id, last_at, id) include (requests, refused, failed)) for values in (4);

create index request_log_chunks_failures on request_log_chunks (tenant_id, last_at, id) where refused + failed > 0;
