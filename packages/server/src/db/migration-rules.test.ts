import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrationsFolder, readMigrationFiles } from './migration-files.ts'
import { findUnsafeStatements } from './migration-rules.ts'

const migration = (sql: string, rest: { concurrently?: boolean; contractOf?: string; name?: string } = {}) =>
  findUnsafeStatements({ name: '9001-change', sql, checksum: '', concurrently: false, contractOf: undefined, ...rest })

test('every migration can run while the previous release serves', async () => {
  assert.deepEqual((await readMigrationFiles(migrationsFolder)).flatMap(findUnsafeStatements), [])
})

for (const sql of [
  'drop table items;',
  'alter table items drop column author;',
  'alter table items rename column author to writer;',
  'alter table items alter column author type varchar(20);',
  'alter table items\n  alter column author\n  set not null;',
  'alter table items add column label text not null;',
  'drop function add_counted_items(json);',
  'alter table items drop constraint items_kind_known, add constraint items_other check (true) not valid;',
]) {
  test(`needs "-- contract": ${sql.replaceAll('\n', ' ')}`, () => {
    assert.equal(migration(sql).length, 1)
    assert.deepEqual(migration(sql, { contractOf: '0038' }), [])
  })
}

for (const sql of [
  'create index items_author on items (author);',
  'create unique index items_author on items (author);',
  "alter table items add constraint items_author_known check (author <> '');",
  'alter table items add constraint items_author_unique unique (author);',
  'alter table items add column token uuid default gen_random_uuid();',
  "update items set author = 'nobody' where author is null;",
]) {
  test(`is refused on a large table: ${sql}`, () => {
    assert.equal(migration(sql).length, 1)
    assert.equal(migration(sql, { contractOf: '0038' }).length, 1, 'a contract does not make it fast')
    assert.deepEqual(migration(`-- small: items\n${sql}`), [])
    assert.deepEqual(migration(`create table items (author text);\n${sql}`), [])
  })
}

test('what only adds is allowed', () => {
  const sql = `-- drop table items;
    create table labels (name text not null, constraint labels_pkey primary key (name));
    create index labels_name on labels (name);
    alter table items add column label text;
    alter table items add column wall boolean not null default false;
    alter table items add constraint items_label_known check (label <> '') not valid;
    alter table items validate constraint items_label_known;
    alter table items drop constraint items_kind_known, add constraint items_kind_known check (kind in ('a', 'b')) not valid;
    alter table items add constraint items_label_unique unique using index items_label;
    create function tidy() returns void language sql as $$ delete from items; drop table items $$;
    insert into labels values ('update; delete from items');`
  assert.deepEqual(migration(sql), [])
})

test('a migration with "-- concurrently" has statements about indexes only', () => {
  const concurrently = (sql: string) => migration(sql, { concurrently: true })
  assert.deepEqual(concurrently('-- concurrently\ncreate index concurrently items_author on items (author);'), [])
  assert.deepEqual(concurrently('drop index concurrently if exists items_author;'), [])
  assert.throws(() => concurrently('create index items_author on items (author);'), /may only have statements/)
  assert.throws(() => concurrently('alter table items add column label text;'), /may only have statements/)
})

test('migrations that were applied before there were rules are left alone', () => {
  assert.deepEqual(migration('drop table items;', { name: '0037-old' }), [])
})
