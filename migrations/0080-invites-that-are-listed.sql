-- small: invites
-- An invite has an id, by which an operator lists and revokes it: its code is stored as a hash only. The default gives
-- the previous release's invites an id too.
alter table invites add column id text collate "C" not null default 'ivt_' || left(replace(gen_random_uuid()::text, '-', ''), 22);
-- Unknown for invites of the previous release.
alter table invites add column hint text;
alter table invites add column uses integer;
-- A revoked invite also has no uses left, so that the previous release refuses it.
alter table invites add column revoked_at timestamptz(3);
alter table invites add constraint invites_id_unique unique (id);
