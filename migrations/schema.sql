-- What the migrations make, written by scripts/schema-dump.ts. Not edited by hand: change it with a new migration.

-- A function may name a table that comes after it.
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION public.add_items(tenant_ids text[], collection_ids text[], ids text[], types text[], contents json[], authors text[], scopes text[], key_hashes bytea[], body_hashes bytea[], answers bytea[], expiries timestamp with time zone[])
 RETURNS TABLE(outcome text)
 LANGUAGE plpgsql
AS $function$
begin
  perform from collections c
    where (c.tenant_id, c.id) in (select * from unnest(tenant_ids, collection_ids))
    order by c.tenant_id, c.id
    for no key update;

  return query
  with input as (
    select * from unnest(tenant_ids, collection_ids, ids, types, contents, authors, scopes, key_hashes, body_hashes, answers, expiries)
      with ordinality as i (tenant_id, collection_id, id, type, content, author, scope, key_hash, body_hash, answer, expires_at, ord)
  ), target as (
    select c.tenant_id, c.id, c.state, c.last_seq
    from collections c
    where (c.tenant_id, c.id) in (select i.tenant_id, i.collection_id from input i)
  ), claimed as (
    insert into idempotency_keys as k (scope, key_hash, body_hash, answer, expires_at)
    select i.scope, i.key_hash, i.body_hash, i.answer, i.expires_at
    from input i
    join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
    where i.scope is not null and t.state = 'open'
    order by i.scope, i.key_hash
    on conflict on constraint idempotency_keys_pkey
      do update set body_hash = excluded.body_hash, answer = excluded.answer, expires_at = excluded.expires_at
      where k.expires_at <= now()
    returning k.scope, k.key_hash
  ), accepted as (
    select i.*, t.last_seq + row_number() over (partition by i.tenant_id, i.collection_id order by i.ord) as seq
    from input i
    join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
    left join claimed k on k.scope = i.scope and k.key_hash = i.key_hash
    where t.state = 'open' and (i.scope is null or k.scope is not null)
  ), inserted as (
    insert into items (tenant_id, collection_id, id, seq, type, content, author)
    select a.tenant_id, a.collection_id, a.id, a.seq, a.type, a.content, a.author from accepted a
  ), counted as (
    update collections c set item_count = c.item_count + a.added, last_seq = c.last_seq + a.added
    from (select tenant_id, collection_id, count(*) as added from accepted group by tenant_id, collection_id) a
    where c.tenant_id = a.tenant_id and c.id = a.collection_id
  )
  select case
      when t.id is null then 'not_found'
      when a.ord is not null then 'added'
      when t.state <> 'open' then 'not_open'
      else 'claim_taken'
    end
  from input i
  left join target t on t.tenant_id = i.tenant_id and t.id = i.collection_id
  left join accepted a on a.ord = i.ord
  order by i.ord;
end
$function$
;

CREATE OR REPLACE FUNCTION public.append_lines(rooms_ text[], from_counts integer[], from_etags text[], counts integer[], etags text[], sizes bigint[], policy_seqs integer[], policy_hashes text[], line_rooms text[], line_seqs integer[], lines text[], dedupes text[])
 RETURNS TABLE(room text, dedupe text, seq integer)
 LANGUAGE plpgsql
AS $function$
begin
  perform from rooms r where r.room = any (rooms_) order by r.room for no key update;

  return query
  with input as (
    select * from unnest(rooms_, from_counts, from_etags, counts, etags, sizes, policy_seqs, policy_hashes)
      as i (room, from_count, from_etag, count, etag, bytes, policy_seq, policy_hash)
  ), line as (
    select * from unnest(line_rooms, line_seqs, lines, dedupes) as n (room, seq, line, dedupe)
  ), repeated as (
    select l.room, l.dedupe, l.seq from room_lines l join line n on n.room = l.room and n.dedupe = l.dedupe
  ), moved as (
    update rooms r
    set count = i.count, etag = i.etag, bytes = i.bytes, policy_seq = i.policy_seq, policy_hash = i.policy_hash
    from input i
    where r.room = i.room and r.count = i.from_count and r.etag = i.from_etag
      and not exists (select from repeated d where d.room = r.room)
    returning r.room
  ), written as (
    insert into room_lines (room, seq, line, dedupe)
    select n.room, n.seq, n.line, n.dedupe from line n join moved m on m.room = n.room
  ), told as (
    select m.room, pg_notify('atrium_rooms', m.room) from moved m
  )
  select t.room, null::text, null::int from told t
  union all
  select d.room, d.dedupe, d.seq from repeated d;
end
$function$
;

create table api_keys (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  kind text not null,
  name text,
  hint text not null,
  key_hash bytea not null,
  created_at timestamp(3) with time zone default now() not null,
  last_used_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  constraint api_keys_pkey PRIMARY KEY (tenant_id, id),
  constraint api_keys_hash_unique UNIQUE (key_hash),
  constraint api_keys_kind_known CHECK ((kind = ANY (ARRAY['secret'::text, 'publishable'::text])))
);

create table artifacts (
  tenant_id text collate "C" not null,
  collection_id text collate "C" not null,
  id text collate "C" not null,
  seq bigint generated always as identity not null,
  kind text not null,
  source text not null,
  url text,
  status text not null,
  stage text not null,
  approved boolean default true not null,
  published boolean default false not null,
  hero boolean default false not null,
  archived boolean default false not null,
  title text,
  alt text,
  width integer,
  height integer,
  mime text,
  bytes bigint,
  sha256 text,
  error json,
  created_at timestamp(3) with time zone default now() not null,
  constraint artifacts_pkey PRIMARY KEY (tenant_id, collection_id, seq),
  constraint artifacts_id_unique UNIQUE (tenant_id, collection_id, id),
  constraint artifacts_kind_known CHECK ((kind = ANY (ARRAY['image'::text, 'clip'::text, 'card'::text]))),
  constraint artifacts_source_known CHECK ((source = ANY (ARRAY['url'::text, 'paint'::text, 'produce'::text, 'upload'::text]))),
  constraint artifacts_stage_known CHECK ((stage = ANY (ARRAY['uploading'::text, 'queued'::text, 'running'::text, 'storing'::text, 'done'::text]))),
  constraint artifacts_status_known CHECK ((status = ANY (ARRAY['painting'::text, 'ready'::text, 'failed'::text, 'quota_exceeded'::text])))
);

create table collections (
  tenant_id text collate "C" not null,
  id text collate "C" not null,
  metadata json not null,
  app_state json not null,
  state text default 'open'::text not null,
  contributor_policy text not null,
  admin_token_hash bytea not null,
  contributor_token_hash bytea,
  box_recipient json,
  item_count bigint default 0 not null,
  last_seq bigint default 0 not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint collections_pkey PRIMARY KEY (tenant_id, id),
  constraint collections_item_count_not_negative CHECK ((item_count >= 0)),
  constraint collections_policy_known CHECK ((contributor_policy = ANY (ARRAY['open'::text, 'token'::text]))),
  constraint collections_state_known CHECK ((state = ANY (ARRAY['open'::text, 'ready'::text, 'closed'::text])))
) with (fillfactor=70);

create table idempotency_keys (
  scope text collate "C" not null,
  key_hash bytea not null,
  body_hash bytea not null,
  answer bytea,
  expires_at timestamp(3) with time zone not null,
  constraint idempotency_keys_pkey PRIMARY KEY (scope, key_hash)
);

create table invites (
  code_hash bytea not null,
  uses_left integer not null,
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  constraint invites_pkey PRIMARY KEY (code_hash),
  constraint invites_uses_left_not_negative CHECK ((uses_left >= 0))
);

create table items (
  tenant_id text collate "C" not null,
  collection_id text collate "C" not null,
  id text collate "C" not null,
  seq bigint not null,
  type text not null,
  content json not null,
  author text,
  approved boolean default true not null,
  archived boolean default false not null,
  hero boolean default false not null,
  access text default 'owner'::text not null,
  access_list bytea,
  created_at timestamp(3) with time zone default now() not null,
  constraint items_pkey PRIMARY KEY (tenant_id, collection_id, seq),
  constraint items_id_unique UNIQUE (tenant_id, collection_id, id),
  constraint items_access_known CHECK ((access = ANY (ARRAY['owner'::text, 'open'::text, 'email'::text])))
);

create table removed_rooms (
  room text collate "C" not null,
  constraint removed_rooms_pkey PRIMARY KEY (room)
);

create table room_lines (
  room text collate "C" not null,
  seq integer not null,
  line text storage external collate "C" not null,
  dedupe text collate "C",
  constraint room_lines_pkey PRIMARY KEY (room, seq)
);

create table rooms (
  room text collate "C" not null,
  count integer not null,
  etag text collate "C" not null,
  bytes bigint not null,
  policy_seq integer not null,
  policy_hash text collate "C" not null,
  constraint rooms_pkey PRIMARY KEY (room),
  constraint rooms_policy_is_a_line CHECK (((policy_seq >= 0) AND (policy_seq < count)))
) with (fillfactor=70);

create table tenants (
  id text collate "C" not null,
  name text not null,
  email text,
  roles text[],
  status text default 'active'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint tenants_pkey PRIMARY KEY (id),
  constraint tenants_roles_known CHECK ((roles <@ ARRAY['app'::text, 'issuer'::text])),
  constraint tenants_status_known CHECK ((status = ANY (ARRAY['active'::text, 'suspended'::text])))
);

CREATE UNIQUE INDEX artifacts_one_hero ON public.artifacts USING btree (tenant_id, collection_id) WHERE hero;

CREATE INDEX collections_id ON public.collections USING btree (id);

CREATE INDEX idempotency_keys_expires_at ON public.idempotency_keys USING brin (expires_at) WITH (pages_per_range='32');

CREATE UNIQUE INDEX items_one_hero ON public.items USING btree (tenant_id, collection_id) WHERE hero;

CREATE UNIQUE INDEX room_lines_dedupe ON public.room_lines USING btree (room, dedupe) WHERE (dedupe IS NOT NULL);

alter table api_keys add constraint api_keys_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table artifacts add constraint artifacts_collection_exists
  FOREIGN KEY (tenant_id, collection_id) REFERENCES collections(tenant_id, id) ON DELETE CASCADE;

alter table collections add constraint collections_tenant_exists
  FOREIGN KEY (tenant_id) REFERENCES tenants(id);

alter table items add constraint items_collection_exists
  FOREIGN KEY (tenant_id, collection_id) REFERENCES collections(tenant_id, id) ON DELETE CASCADE;

alter table room_lines add constraint room_lines_room_exists
  FOREIGN KEY (room) REFERENCES rooms(room) ON DELETE CASCADE;
