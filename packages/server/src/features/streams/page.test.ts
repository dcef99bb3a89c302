import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pullEvents } from '#testing/pull-events.ts'
import { send } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { Channel, cursorOrigin } from './channel.ts'
import { pageLoader } from './page.ts'

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api.close())

test('a page that is not full ends after what it holds, also where that came after the look before it', async () => {
  const tenant = await api.makeTenant()
  const key = tenant.publishableKey
  const { data } = (await send(api, 'POST', '/collections', { key, body: { item_access: 'open' } })).body
  for (let i = 0; i < 3; i++) await send(api, 'POST', `/collections/${data.id}/items`, { key, body: { type: 'm', content: i } })
  const last = (await pullEvents(api, tenant)).at(-1)!.sequence
  const load = pageLoader(api.ctx.db)
  for (const kind of ['tenant', 'owner', 'open', 'wall'] as const) {
    // The channel knows of the first item alone; the query finds all three.
    const target = { kind, tenantId: tenant.id, ...(kind === 'tenant' ? {} : { collectionId: data.id as string }) }
    const channel = new Channel(target, { at: last - 2 }, cursorOrigin([Buffer.alloc(32, 7)], undefined), load)
    const page = await load(channel, last - 3, { upTo: last - 2, mayBeExpired: false })
    assert.equal(page.bytes.toString().match(/^event:/gm)?.length, 3, kind)
    assert.equal(page.upTo, last, `${kind}: the next page would repeat what this one sent`)
    const next = await load(channel, page.upTo, { upTo: last + 5, mayBeExpired: false })
    assert.deepEqual([next.bytes.length, next.upTo], [0, last + 5], `${kind}: what is known to concern nobody is read`)
  }
})
