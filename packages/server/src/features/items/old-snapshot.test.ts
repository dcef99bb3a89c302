import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '#testing/http.ts'
import { startTestApi } from '#testing/test-api.ts'

/** Then each row of usage has almost all of its versions. */
const rounds = 374

test('counting usage visits few versions of its rows while a transaction with an old snapshot is open', async (t) => {
  const api = await startTestApi()
  t.after(() => api.close())
  const { id: tenantId, publishableKey: key } = await api.makeTenant()
  const ids: string[] = []
  for (let i = 0; i < 16; i++) ids.push((await send(api, 'POST', '/collections', { key, body: {} })).body.data.id)

  const reader = await api.ctx.db.pool.connect()
  const writer = await api.ctx.db.pool.connect()
  try {
    await reader.query('begin isolation level repeatable read')
    await reader.query('select from collections')
    // A batch has each collection once, so that their versions share pages.
    const addRound = (round: number) =>
      writer.query(
        `select add_checked_items(array_fill($1::text, array[16]), $2, array(select 'itm_' || id || $3::text from unnest($2::text[]) id),
           array_fill('message'::text, array[16]), array_fill('{}'::json, array[16]), nulls, array_fill(''::bytea, array[16]),
           nulls, bytes, bytes, bytes, array_fill(null::timestamptz, array[16]))
         from (select array_fill(null::text, array[16]) as nulls, array_fill(null::bytea, array[16]) as bytes) empty`,
        [tenantId, ids, round],
      )
    const readVisits = async () => {
      await writer.query('select pg_stat_force_next_flush()')
      const { rows } = await writer.query<{ visits: string }>(
        `select heap_blks_hit + heap_blks_read as visits from pg_statio_user_tables where relid = 'usage_items'::regclass`,
      )
      return Number(rows[0]?.visits)
    }
    for (let round = 0; round < rounds; round++) await addRound(round)
    const before = await readVisits()
    for (let round = rounds; round < rounds + 10; round++) await addRound(round)
    const visitsOfOne = ((await readVisits()) - before) / 160
    // Measured: 34, and 100 with one row for a day, which grows with each round.
    assert.ok(visitsOfOne < 45, `${visitsOfOne} pages were visited to count one item`)
  } finally {
    await reader.query('rollback')
    reader.release()
    writer.release()
  }
  const { rows } = await api.ctx.db.pool.query('select sum(items)::int as items from usage_items')
  assert.deepEqual(rows, [{ items: 16 * (rounds + 10) }])
})
