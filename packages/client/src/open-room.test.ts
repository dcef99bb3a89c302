import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fresh, startAgentWorld } from '../../space/src/testing/agent-world.ts'
import { makeDeviceKey } from './device-key.ts'
import { InvalidRequestError, NetworkError, NotAuthorizedError, NotFoundError } from './errors.ts'
import { openClientSealedRoom } from './client-sealed-room.ts'
import { openRoom, type Room, type RoomOptions } from './open-room.ts'
import type { Entry } from './room-call.ts'
import { losing } from './testing/losing.ts'
import { failureOf } from './testing/scripted-server.ts'

let world: Awaited<ReturnType<typeof startAgentWorld>>
before(async () => {
  world = await startAgentWorld()
})
after(() => world.close())

function open(more: Partial<RoomOptions> = {}): Room {
  return openRoom({ spaceUrl: `${world.space.origin}/space`, ...fresh(), wait: async () => undefined, ...more })
}

describe('say and poll', () => {
  test('poll returns a message with its author, time and reply_to', async () => {
    const room = open()
    const first = await room.say('The lamps are lit.')
    await room.say('All of them?', { replyTo: first.id, clientId: 'mine' })
    const page = await room.poll()
    assert.deepEqual(
      page.entries.map(({ seq, author, message }) => [seq, author.kind, message.text, message.reply_to]),
      [
        [1, 'anonymous', 'The lamps are lit.', undefined],
        [2, 'anonymous', 'All of them?', first.id],
      ],
    )
    assert.deepEqual([page.count, page.policy], [3, 'open'])
    const { count: sinceCount, etag: sinceEtag } = page
    assert.deepEqual((await room.poll({ sinceCount, sinceEtag })).entries, [])
    assert.deepEqual((await room.poll({ sinceCount: 1, limit: 1 })).entries, page.entries.slice(0, 1))
  })

  test('a message is stored once although its responses were lost and it was sent again', async () => {
    const room = open({ fetch: losing(3) })
    const said = await room.say('Once.')
    const { entries } = await open({ room: room.room, mk: room.mk }).poll()
    assert.deepEqual(
      entries.map(({ id }) => id),
      [said.id],
    )
    const lost = open({ fetch: losing(5) })
    assert.ok((await failureOf(lost.say('Lost.'))) instanceof NetworkError)
  })

  test('two messages with the same words are two', async () => {
    const room = open()
    await Promise.all([room.say('Hurrah!'), room.say('Hurrah!')])
    assert.equal((await room.poll()).entries.length, 2)
  })

  test('a rejection is an error of its class and is not retried', async () => {
    let calls = 0
    const counting: typeof fetch = (url, init) => (calls++, fetch(url, init))
    const room = open({ fetch: counting })
    assert.ok((await failureOf(room.poll())) instanceof NotFoundError)
    await room.say('Hello.')
    const stranger = open({ room: room.room, fetch: counting })
    const refusal = await failureOf(stranger.poll())
    assert.ok(refusal instanceof NotAuthorizedError)
    assert.equal(refusal.reason, 'bad_room_key')
    for (const text of ['x'.repeat(16_385), 'ü'.repeat(8_193)])
      assert.ok((await failureOf(room.say(text))) instanceof InvalidRequestError)
    assert.equal(calls, 5)
  })

  test('a malformed room or key is rejected before anything is sent', () => {
    for (const bad of [{ room: 'a room' }, { mk: 'short' }, { mk: 'with a space in it, but long enough' }])
      assert.throws(() => open(bad), TypeError)
    // A poll of such an address fails like a lost connection, and `follow` would repeat it without end.
    for (const spaceUrl of [undefined as unknown as string, 'localhost:8787/v1/space', 'api.example/v1/space'])
      for (const openAt of [openRoom, openClientSealedRoom])
        assert.throws(() => openAt({ ...fresh(), spaceUrl }), {
          name: 'TypeError',
          message: 'spaceUrl must be like https://api.example/v1/space',
        })
  })
})

describe('identity', () => {
  test('a device key names a guest, and its proof says that they hold it', async () => {
    const { spk, sign, thumbprint } = await makeDeviceKey()
    const room = open({ identity: { spk, sign } })
    await room.say('It is me.', { replyTo: 'x', clientId: 'mine' })
    await open({ room: room.room, mk: room.mk, identity: { spk } }).say('Is it?')
    const { entries } = await room.poll()
    assert.equal(entries[0]!.message.client_id, 'mine', 'the author sees it')
    const [seenByOthers] = (await open({ room: room.room, mk: room.mk }).poll()).entries
    assert.deepEqual(seenByOthers?.message, { text: 'It is me.', reply_to: 'x' })
    assert.deepEqual(
      entries.map(({ author }) => author),
      [
        { kind: 'anonymous', key: thumbprint, proven: true },
        { kind: 'anonymous', key: thumbprint },
      ],
    )
  })

  test('opens a room with a list only to those on it', async () => {
    const { secret } = await world.emailRoom()
    const key = await makeDeviceKey()
    const tokenOf = (email: string) => world.idp.provider.sign({ email, sub: email, nonce: key.thumbprint })
    const enter = async (email: string) => open({ ...secret, identity: { ...key, idToken: await tokenOf(email) } })
    const ada = await enter('ada@example.com')
    await ada.say('Hello.')
    const [entry] = (await ada.poll()).entries
    assert.deepEqual(entry!.author, { kind: 'account', email: 'ada@example.com', name: 'Ann', key: key.thumbprint, proven: true })
    const reasons = [await enter('eve@example.com'), open(secret), open({ ...secret, identity: key })].map(
      async (room) => (await failureOf(room.say('Let me in.'))).reason,
    )
    assert.deepEqual(await Promise.all(reasons), ['not_on_list', 'unsigned', 'unsigned'])
  })

  test('is read for each request, so that a token can be renewed', async () => {
    const { secret } = await world.emailRoom()
    const key = await makeDeviceKey()
    const claims = { email: 'ada@example.com', sub: 'ada', nonce: key.thumbprint }
    let expired = true
    const room = open({
      ...secret,
      identity: async () => {
        const past = expired ? { exp: Math.floor(Date.now() / 1_000) - 600 } : {}
        return { ...key, idToken: await world.idp.provider.sign({ ...claims, ...past }) }
      },
    })
    assert.equal((await failureOf(room.poll())).reason, 'token: expired')
    expired = false
    assert.deepEqual((await room.poll()).entries, [])
  })
})

describe('follow', () => {
  /** The texts of the first `count` entries. */
  async function take(entries: AsyncIterable<Entry>, count: number): Promise<string[]> {
    const texts: string[] = []
    for await (const { message } of entries) if (texts.push(message.text) === count) break
    return texts
  }
  const sayAll = async (room: Room, texts: string[]) => {
    for (const text of texts) await room.say(text)
  }

  test('yields past messages and then new ones as they arrive, each once and in order', async () => {
    const room = open()
    await sayAll(room, ['a', 'b'])
    const got = take(room.follow(), 4)
    await sayAll(room, ['c', 'd'])
    assert.deepEqual(await got, ['a', 'b', 'c', 'd'])
  })

  test('continues after an entry, or starts now', async () => {
    const room = open()
    await sayAll(room, ['a', 'b', 'c'])
    assert.deepEqual(await take(room.follow({ after: 2 }), 1), ['c'])
    const news = take(room.follow({ after: 'now' }), 1)
    // Repeated until it arrives, because the start of `follow` cannot be observed.
    let heard = false
    void news.then(() => (heard = true))
    while (!heard) await room.say('news')
    assert.deepEqual(await news, ['news'])
  })

  test('yields long histories page by page', async () => {
    const room = open()
    const texts = Array.from({ length: 1_100 }, (_, n) => `${n}`)
    for (let at = 0; at < texts.length; at += 100) await Promise.all(texts.slice(at, at + 100).map((text) => room.say(text)))
    assert.deepEqual((await take(room.follow(), texts.length)).sort(), texts.sort())
  })

  test('ends without an error when its signal aborts, also during a long poll', async () => {
    const room = open()
    await room.say('a')
    const stop = new AbortController()
    const texts: string[] = []
    for await (const { message } of room.follow({ signal: stop.signal })) {
      texts.push(message.text)
      setTimeout(() => stop.abort(), 50)
    }
    assert.deepEqual(texts, ['a'])
    assert.equal((await room.follow({ signal: stop.signal }).next()).done, true)
  })

  test('of a room that does not exist throws, or waits for the first message', async () => {
    const room = open()
    assert.ok((await failureOf(room.follow().next())) instanceof NotFoundError)
    for (const after of [undefined, 'now'] as const) {
      // Polls at intervals, because there is no long poll for a room that does not exist.
      const asked = Promise.withResolvers<void>()
      const nap = () => new Promise<void>((resolve) => setTimeout(resolve, 20)).finally(asked.resolve)
      const other = open({ wait: nap })
      const first = other.follow({ after, waitForRoom: true }).next()
      await asked.promise
      await other.say('first')
      assert.equal((await first).value?.message.text, 'first')
    }
  })

  test('throws errors that a retry cannot resolve', async () => {
    const { secret } = await world.emailRoom()
    assert.ok((await failureOf(open(secret).follow().next())) instanceof NotAuthorizedError)
  })
})
