import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDevice } from '@atrium/identity/testing/provider'
import { serveTestProvider, type ServedProvider } from '@atrium/identity/testing/serve-provider'
import { consoleLink, invite, signIn } from '#testing/console.ts'
import { send, type Got } from '#testing/http.ts'
import { startTestApi, type TestApi } from '#testing/test-api.ts'
import { located } from '@atrium/media/testing/sample-pictures'
import { StoredWorld, type Place } from '#testing/artifacts/stored-world.ts'

let served: ServedProvider
let api: TestApi
let world: StoredWorld
before(async () => {
  served = await serveTestProvider({ audience: 'atrium-test' })
  api = await startTestApi({ oidcIssuer: served.provider.issuer, oidcClientId: 'atrium-test' })
  world = await StoredWorld.open(api)
})
after(async () => {
  await api.close()
  served.close()
})

const key = () => world.tenant.publishableKey
const listed = { access: 'email', grant: ['ada@example.com', 'bob@example.com'], revoke: ['bob@example.com'] }
const curate = (place: Place, id: string, body: object) =>
  send(api, 'PATCH', `/collections/${place.id}/artifacts/${id}`, { ...place.owner, body })
const publish = async (place: Place, flags: object) => world.publish(place, await located('png'), 'image/png', 'image', flags)

/** The headers that prove the account of a device. */
async function proofOf(email: string, nonce?: string): Promise<Record<string, string>> {
  const device = await createTestDevice()
  const claims = { email, email_verified: true, nonce: nonce ?? device.nonce, aud: 'atrium-test' }
  return { 'x-id-token': await served.provider.sign(claims), 'x-spk': JSON.stringify(device.spk) }
}

const outcomeOf = ({ status, body }: Pick<Got, 'status' | 'body'>) =>
  status === 200 ? 'seen' : [status, body.error.code, body.error.reason].filter(Boolean).join(' ')

/** The outcome of reading the artifact and its bytes, which must agree. */
async function look(place: Place, id: string, headers: Record<string, string> = {}): Promise<string> {
  const artifact = outcomeOf(await send(api, 'GET', `/collections/${place.id}/artifacts/${id}`, { key: key(), headers }))
  const media = await world.media(id, headers)
  const bytes = outcomeOf({ status: media.status, body: media.status === 200 ? undefined : JSON.parse(media.body.toString()) })
  assert.equal(bytes, artifact)
  return artifact
}

test('a published artifact is open to anyone unless its access says otherwise, and its bytes follow the same rule', async () => {
  const place = await world.makeCollection()
  const id = await publish(place, {})
  const ada = await proofOf('Ada@Example.com')
  assert.equal(await look(place, id), 'seen')
  assert.equal((await curate(place, id, { access: 'owner' })).status, 200)
  assert.equal(await look(place, id), '404 not_found')
  assert.equal(await look(place, id, ada), '404 not_found')
  assert.equal(await look(place, id, { 'x-collection-token': place.owner.collectionToken }), 'seen')
  await curate(place, id, { access: 'open' })
  assert.equal(await look(place, id), 'seen')
})

test('listed accounts see a published e-mail artifact, and other accounts get the reason for the refusal', async () => {
  const place = await world.makeCollection()
  const id = await publish(place, { published: false })
  const ada = await proofOf('Ada@Example.com')
  assert.equal((await curate(place, id, listed)).status, 200)
  assert.equal(await look(place, id, ada), '404 not_found', 'not published')
  await curate(place, id, { published: true })
  assert.equal(await look(place, id, ada), 'seen')
  const attempts: [Record<string, string>, string][] = [
    [{}, 'unsigned'],
    [{ 'x-id-token': ada['x-id-token']! }, 'unsigned'],
    [{ ...ada, 'x-id-token': 'x' }, 'token: malformed'],
    [{ ...ada, 'x-spk': 'x' }, 'nonce_mismatch'],
    [await proofOf('ada@example.com', 'other'), 'nonce_mismatch'],
    [await proofOf('bob@example.com'), 'revoked'],
    [await proofOf('eve@example.com'), 'not_on_list'],
  ]
  for (const [headers, reason] of attempts) assert.equal(await look(place, id, headers), `403 not_authorized ${reason}`)
  await curate(place, id, { archived: true })
  assert.equal(await look(place, id, ada), '404 not_found', 'archived')
})

test('caches may store only the bytes of an open artifact, and other answers name the headers that they vary on', async () => {
  const place = await world.makeCollection()
  const id = await publish(place, {})
  const open = await world.media(id)
  assert.equal(open.headers['cache-control'], 'public, max-age=31536000, immutable')
  await curate(place, id, listed)
  const ada = await world.media(id, await proofOf('ada@example.com'))
  assert.equal(ada.status, 200)
  for (const answer of [ada, await world.ownerMedia(place, id)]) {
    assert.equal(answer.headers['cache-control'], 'private, no-store')
    for (const name of ['x-collection-token', 'x-id-token', 'x-spk'])
      assert.ok(answer.headers['vary']!.toLowerCase().split(', ').includes(name), name)
  }
  assert.equal((await world.media(id)).headers['cache-control'], 'no-store', 'a refusal')
})

test('a list shows open artifacts to everyone, and to an account also those it is listed for; a page may be short of its limit', async () => {
  const place = await world.makeCollection()
  const add = async (flags: object) => {
    const body = { kind: 'image', url: 'https://pictures.example/a.webp' }
    const { id } = (await send(api, 'POST', `/collections/${place.id}/artifacts`, { ...place.owner, body })).body.data
    await curate(place, id, { published: true, ...flags })
    return id as string
  }
  const eve = { access: 'email', grant: ['eve@example.com'] }
  const all = [await add(eve), await add({}), await add(listed), await add({ access: 'owner' }), await add(eve), await add({})]
  const [, first, granted, , , last] = all
  const list = async (headers: Record<string, string>, limit = 50, options: object = { key: key() }) => {
    const found: string[] = []
    let cursor: string | undefined
    do {
      const query = `limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`
      const got = await send(api, 'GET', `/collections/${place.id}/artifacts?${query}`, { ...options, headers })
      assert.equal(got.status, 200, got.text)
      assert.ok(!got.text.includes('example.com"'), 'no address is shown')
      found.push(...got.body.data.map(({ id }: { id: string }) => id))
      cursor = got.body.meta.next_cursor
    } while (cursor)
    return found
  }
  assert.deepEqual(await list({}), [first, last])
  assert.deepEqual(await list({}, 50, place.owner), all)
  for (const limit of [1, 2, 50]) assert.deepEqual(await list(await proofOf('ada@example.com'), limit), [first, granted, last])
  assert.deepEqual(await list(await proofOf('bob@example.com')), [first, last], 'a revoked account')
  const half = { 'x-spk': (await proofOf('ada@example.com'))['x-spk']! }
  const refused = await send(api, 'GET', `/collections/${place.id}/artifacts`, { key: key(), headers: half })
  assert.equal(outcomeOf(refused), '403 not_authorized unsigned')
})

test('the share page, its preview and its oEmbed show only open artifacts', async () => {
  const place = await world.makeCollection()
  const hero = await publish(place, { hero: true })
  const body = { kind: 'card', url: 'https://pictures.example/card.png' }
  const card = (await send(api, 'POST', `/collections/${place.id}/artifacts`, { ...place.owner, body })).body.data.id
  await curate(place, card, { published: true })
  const page = async () => (await send(api, 'GET', `/collections/${place.id}/render`)).text
  const oembed = async () => {
    const url = encodeURIComponent(`${api.ctx.config.publicUrl}/v1/collections/${place.id}/render`)
    return (await send(api, 'GET', `/oembed?url=${url}`)).text
  }
  assert.ok((await page()).includes(hero) && (await oembed()).includes(hero))
  for (const access of ['email', 'owner']) {
    await curate(place, hero, { access })
    assert.ok(!(await page()).includes(hero) && !(await oembed()).includes(hero), access)
    assert.ok((await page()).includes('card.png'), 'the open card takes its place')
    await curate(place, card, { access })
    assert.ok(!(await page()).includes('card.png') && !(await oembed()).includes('card.png'), access)
    for (const id of [hero, card]) await curate(place, id, { access: 'open' })
  }
  assert.ok((await page()).includes(hero))
})

test('an empty grant or revoke changes nothing, addresses are checked, and none is stored in the clear', async () => {
  const place = await world.makeCollection()
  const id = await publish(place, listed)
  assert.equal((await curate(place, id, { grant: [], revoke: [] })).status, 200)
  assert.equal(await look(place, id, await proofOf('ada@example.com')), 'seen')
  const wrong = await curate(place, id, { grant: ['nobody'] })
  assert.deepEqual([wrong.status, wrong.body.error.details[0].path], [400, '/grant/0'])
  assert.equal((await curate(place, id, { access: 'everyone' })).status, 400)
  const { rows } = await api.ctx.db.pool.query<{ row: string }>('select artifacts::text as row from artifacts')
  assert.ok(rows.length > 0 && rows.every(({ row }) => !/ada@|bob@|eve@/.test(row)))
})

test('a member sees the pictures of the tenant in the console before they are published, and nobody else does', async () => {
  const place = await world.makeCollection()
  const id = await publish(place, { published: false })
  const link = (tenant: string) => consoleLink(api, { kind: 'tenant', tenant_id: tenant })
  const owner = await signIn(api, await link(world.tenant.id))
  const { browser: analyst } = await invite(api, owner, 'analyst')
  const stranger = await signIn(api, await link((await api.makeTenant()).id))
  const operator = await signIn(api, await consoleLink(api, { kind: 'operator' }))
  const of = ({ cookies, csrf }: typeof owner) => ({ cookie: cookies.join('; '), 'x-atrium-csrf': csrf })
  const statusFor = async (headers: Record<string, string>) => (await world.media(id, headers)).status
  const seen = await world.media(id, of(analyst))
  assert.deepEqual([seen.status, seen.headers['cache-control']], [200, 'private, no-store'])
  assert.equal(seen.headers['content-security-policy']?.includes('sandbox'), true)
  const refused = {
    'a stranger': of(stranger),
    'an operator': of(operator),
    'the cookie without the header': { cookie: of(owner).cookie },
    'the header of another session': { ...of(owner), 'x-atrium-csrf': analyst.csrf },
  }
  for (const [name, headers] of Object.entries(refused)) assert.equal(await statusFor(headers), 404, name)
  await analyst.call('POST', '/console/sign-out')
  assert.equal(await statusFor(of(analyst)), 404)
  assert.equal(await statusFor(of(owner)), 200)
})
