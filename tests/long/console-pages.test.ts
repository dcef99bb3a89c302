import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import type { Browser, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../../packages/web/src/testing/start-test-browser.ts'
import { createTestDatabase, type TestDatabase } from '../../packages/server/testing/test-database.ts'
import { startAtrium, type AtriumProcess } from '../support/atrium-process.ts'
import { askGood, makeCollection, makeTenant, type TestTenant } from '../support/call-api.ts'
import { pathsOfConsole } from '../support/console-paths.ts'

const limitMs = 300
const items = 100_000
const events = 1_000_000
const requests = 1_000_000
/** Of each call the quickest of so many visits counts: the first one also reads from disk, and compiles. */
const visits = 3

/** What each call of a page took on the server: from the request to the first byte of its answer. */
type Times = Map<string, number>

describe('the console of a large tenant', { skip: skipWithoutChromium, timeout: 1_200_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let browser: Browser
  let tenant: TestTenant
  let collection: string
  before(async () => {
    database = await createTestDatabase()
    atrium = await startAtrium({ databaseUrl: database.url })
    tenant = await makeTenant(atrium.origin)
    collection = (await makeCollection(atrium.origin, tenant.publishable)).id
    await atrium.end()
    await seed(database.url, tenant.id, collection)
    atrium = await startAtrium({ databaseUrl: database.url })
    browser = await startTestBrowser()
  })
  after(async () => {
    await browser?.close()
    await atrium?.end()
    await database?.drop()
  })

  const signIn = async (body: object): Promise<Page> => {
    const { data } = await askGood(atrium.origin, 'POST /v1/operator/console-links', { operator: true, body })
    const page = await browser.newPage()
    await page.goto(data.url)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    return page
  }

  /** Opens each page several times, prints its slowest call, and returns the calls above the limit. */
  const measure = async (page: Page, paths: string[]): Promise<string[]> => {
    const tooSlow: string[] = []
    for (const path of paths) {
      const best: Times = new Map()
      for (let visit = 0; visit < visits; visit++) {
        for (const [call, ms] of await timesOf(page, `${atrium.origin}/console${path}`))
          best.set(call, Math.min(ms, best.get(call) ?? Number.POSITIVE_INFINITY))
      }
      const [call, ms] = [...best].toSorted(([, one], [, other]) => other - one)[0] ?? ['no call', 0]
      console.log(`${path.padEnd(34)} ${ms.toFixed(0).padStart(5)} ms  ${call}`)
      if (ms > limitMs) tooSlow.push(`${path}: ${call} ${ms.toFixed(0)} ms`)
    }
    return tooSlow
  }

  test(`${items} items, ${events} events and ${requests} logged requests: no page waits longer than ${limitMs} ms`, async () => {
    const page = await signIn({ kind: 'tenant', tenant_id: tenant.id })
    // The tenant has no agent and no webhook endpoint.
    const paths = pathsOfConsole('tenant').filter((path) => !/^\/(?:agents|webhooks)\/:id/.test(path))
    const named = paths.map((path) => path.replace('/collections/:id', `/collections/${collection}`))
    assert.deepEqual(await measure(page, named), [])
  })

  test('nor does a page of the operator', async () => {
    const page = await signIn({ kind: 'operator' })
    const paths = pathsOfConsole('operator').filter((path) => path !== '/ledger/:id')
    const named = paths.map((path) => path.replace('/tenants/:id', `/tenants/${tenant.id}`))
    assert.deepEqual(await measure(page, named), [])
  })
})

async function timesOf(page: Page, url: string): Promise<Times> {
  const times: Times = new Map()
  const note = (request: import('playwright-core').Request) => {
    const { pathname, search } = new URL(request.url())
    const { requestStart, responseStart } = request.timing()
    if (pathname.startsWith('/v1/')) times.set(`${request.method()} ${pathname}${search}`, responseStart - requestStart)
  }
  page.on('requestfinished', note)
  await page.goto(url, { waitUntil: 'commit' })
  await page.locator('main h1').waitFor()
  await page.locator('.loading').first().waitFor({ state: 'detached' })
  page.off('requestfinished', note)
  return times
}

async function seed(url: string, tenantId: string, collectionId: string): Promise<void> {
  const client = new Client({ connectionString: url, statement_timeout: 0 })
  await client.connect()
  const random = `left(translate(encode(sha256((n || $1)::bytea), 'base64'), '+/=', 'abc'), 22)`
  const run = (text: string, ...values: unknown[]) => client.query(text, [tenantId, ...values])
  await run(
    `insert into items (tenant_id, collection_id, id, seq, type, content, created_at)
     select $1, $2, 'itm_' || ${random}, n, 'message', json_build_object('text', 'wish ' || n), now() - interval '1 minute' * n
     from generate_series(1, ${items}) n`,
    collectionId,
  )
  await run(`update collections set item_count = ${items}, last_seq = ${items} where tenant_id = $1 and id = $2`, collectionId)
  await run(
    `insert into events (tenant_id, sequence, id, type, data, created_at)
     select $1, n + 1000, 'evt_' || ${random}, 'item.created', json_build_object('collection_id', $2::text),
       now() - interval '1 second' * (${events} - n)
     from generate_series(1, ${events}) n`,
    collectionId,
  )
  // A head that is behind would make each stream begin with a million events, and the next event wait for as many hashes.
  await run(
    `insert into event_heads (tenant_id, last_sequence, chain_sequence, chain_hash)
     values ($1, ${events} + 1000, ${events} + 1000, sha256(''))
     on conflict (tenant_id) do update
       set last_sequence = excluded.last_sequence, chain_sequence = excluded.chain_sequence, chain_hash = excluded.chain_hash`,
  )
  // Chunks of ten entries, as of a tenant with ten requests a second.
  await run(
    `insert into request_log_chunks (tenant_id, id, first_at, last_at, started_at, requests, refused, failed, duration_sample, entries)
     select $1, min(id), min(at), max(at), min(at), count(*), count(*) filter (where status < 500 and status >= 400),
       count(*) filter (where status >= 500), (array_agg(ms))[:8],
       json_agg(json_build_array(id, floor(1000 * extract(epoch from at - first_at)), 'GET', '/collections/{id}', status, ms, 'key_x'))
     from (
       select n, min(at) over (partition by n / 10, date_trunc('minute', at)) as first_at, id, at, ms, status from (select n, 'req_' || ${random} as id, now() - interval '170 hours' * (n / ${requests}.0) as at, n % 100 as ms,
         case when n % 50 = 0 then 404 when n % 333 = 0 then 500 else 200 end as status
       from generate_series(1, ${requests}) n) made
     ) entry
     group by n / 10, date_trunc('minute', at)`,
  )
  await client.query('vacuum analyze')
  await client.end()
}
