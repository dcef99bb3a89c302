import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { readDatabaseAddress } from './database-address.ts'

interface Parameters {
  host: string
  port: number
  user: string
  database: string
  password: string | null
  options: string | undefined
  ssl: boolean | object
}

test('a URL means what it means to pg', () => {
  const urls = [
    'postgresql://user:secret@db.example.org:6543/atrium',
    'postgres://user@db.example.org/atrium?sslmode=disable',
    'postgresql://user@localhost/atrium?host=/run/postgresql',
    'postgresql:///atrium?host=/run/postgresql&user=someone',
    'postgresql://user@/atrium?host=/run/postgresql',
    'postgresql://user@%2Frun%2Fpostgresql/atrium',
    'postgresql://us%40er:p%3A%2F%3F%23%5B%5D%40@db/at%20rium',
    'postgresql://user:p%C3%A4ss@db',
    'postgresql://user:100%@db/atrium',
    'postgresql://user@[::1]:5433/atrium',
    'postgresql://user@db/atrium?options=-c%20search_path%3Dx&port=7000&database=other',
    'postgresql://user@db/atrium?password=from%20a%20parameter',
    'postgresql://user@db/atrium?sslmode=verify-full',
    'postgresql://user@db/atrium?ssl=true',
    'postgresql://user@db/atrium?ssl=0',
  ]
  for (const url of urls) {
    const client = new pg.Client({ connectionString: url }) as unknown as { connectionParameters: Parameters }
    const expected = client.connectionParameters
    const found = readDatabaseAddress(url)
    const { host, port, user, database, password, options } = found
    assert.deepEqual(
      { host, port, user, database, password, options, isEncrypted: found.tls !== undefined },
      {
        host: expected.host,
        port: expected.port,
        user: expected.user,
        // pg lets the path win.
        database: url.includes('database=') ? 'other' : expected.database,
        password: expected.password ?? undefined,
        options: expected.options,
        isEncrypted: Boolean(expected.ssl),
      },
      url,
    )
  }
})

test("libpq's variables stand in for what the URL lacks", () => {
  const env = { PGHOST: 'h', PGPORT: '7', PGUSER: 'u', PGPASSWORD: 'p', PGDATABASE: 'd', PGSSLMODE: 'require', PGAPPNAME: 'a' }
  const { host, port, user, password, database, tls, applicationName } = readDatabaseAddress('postgresql://', env)
  assert.deepEqual([host, port, user, password, database, tls, applicationName], ['h', 7, 'u', 'p', 'd', {}, 'a'])
  assert.equal(readDatabaseAddress('postgresql://other/?sslmode=disable', env).tls, undefined)
  assert.equal(readDatabaseAddress('postgresql://other', env).host, 'other')
})

test('what people write is understood, or refused with the reason', () => {
  const { password, host } = readDatabaseAddress('postgresql://user:p@ss@db/atrium?dbname=other')
  assert.deepEqual([password, host], ['p@ss', 'db'])
  assert.equal(readDatabaseAddress('postgresql://user@db/?dbname=other').database, 'other')
  assert.equal(readDatabaseAddress('postgresql://user@/atrium?host=/run/postgresql&sslmode=require').tls, undefined)
  assert.equal(readDatabaseAddress('postgresql://user@[::1]/atrium', { PGSSLMODE: 'disable' }).tls, undefined)
  assert.deepEqual(readDatabaseAddress('postgresql://user@db/x?sslmode=verify-full&sslrootcert=system').tls, {})
  assert.equal(readDatabaseAddress('postgresql://user@db/x?sslmode=', {}).tls, undefined)
  const refused: [string, RegExp][] = [
    ['postgresql://user:secret@one,two/atrium', /several hosts/],
    ['postgresql://user:secret@one:5432,two:5433/atrium', /several hosts/],
    ['postgresql://user:secret@/atrium?host=one,two', /several hosts/],
    ['postgresql://user:secret@db/atrium?port=5432,5433', /port/],
    ['postgresql://user:secret@db/atrium?port=http', /port/],
    ['postgresql://user:secret@db:0/atrium', /port/],
    ['postgresql://user:1#secret@db/atrium', /%23/],
    ['postgresql://user:secret%ff@db/atrium', /percent/],
    ['postgresql://user:secret@db/atrium?sslmode=disabled', /sslmode/],
  ]
  for (const [url, reason] of refused) {
    assert.throws(
      () => readDatabaseAddress(url, {}),
      (error: Error) => reason.test(error.message) && !`${error.message}${error.stack}`.includes('secret'),
      url,
    )
  }
})

test('what is no URL of a database is refused without being quoted', () => {
  for (const url of [
    '',
    'user:secret@db',
    'https://user:secret@db',
    'postgresql://user:secret@db:port/x',
    'postgresql://u:secret@[x/',
  ]) {
    assert.throws(
      () => readDatabaseAddress(url),
      (error: Error) => /not a postgresql:\/\/ URL/.test(error.message) && !JSON.stringify({ ...error }).includes('secret'),
      url,
    )
  }
})
