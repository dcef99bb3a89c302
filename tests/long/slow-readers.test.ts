import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { countOf, openSlowReaders } from '../support/slow-readers.ts'
import { address, startSlowWorld, type SlowWorld } from '../support/slow-world.ts'

const readers = 500
const limitMiB = 256
/** A client that reads nothing is disconnected after 30 seconds. The server checks every two seconds. */
const cutWithinMs = 36_000
const onLinux = { skip: process.platform !== 'linux' && 'memory is read from /proc', timeout: 300_000 }

let world: SlowWorld
before(async () => {
  world = await startSlowWorld()
})
after(() => world.end())

interface Kind {
  at: 'api' | 'space'
  /** Of the n-th reader. */
  request: (n: number) => string
  /** Whether the kernel cannot take all of it. */
  cut: boolean
}

const kinds: Record<string, Kind> = {
  'a room of 64 MiB': { at: 'space', request: (n) => world.sealedRequest('/space', address(n)), cut: true },
  'a room of 64 MiB, forwarded': { at: 'api', request: (n) => world.sealedRequest('/v1/space', address(n)), cut: true },
  'pages of a room, three on a connection': {
    at: 'space',
    request: (n) => world.pollRequest('/space', address(n)).repeat(3),
    cut: true,
  },
  'pages of a room, forwarded': { at: 'api', request: (n) => world.pollRequest('/v1/space', address(n)).repeat(3), cut: true },
  'pages of items, three on a connection': { at: 'api', request: () => world.itemsRequest().repeat(3), cut: true },
  'the whole document of the API, ten times': {
    at: 'api',
    request: () => world.fileRequest('/openapi.full.json').repeat(10),
    cut: false,
  },
  'the script of the documentation, five times': { at: 'api', request: () => world.fileRequest('/docs').repeat(5), cut: false },
  'the published source, fifty times': { at: 'space', request: () => world.fileRequest('/source.tar.gz').repeat(50), cut: false },
}

for (const [name, { at, request, cut }] of Object.entries(kinds)) {
  test(`${readers} readers of ${name} who do not read: less than ${limitMiB} MiB, and they are cut off`, onLinux, async (t) => {
    const origin = at === 'api' ? world.atrium.origin : world.atrium.spacesOrigin
    const { apiMiB, spaceMiB } = await world.growth(async () => {
      const requests = Array.from({ length: readers }, (_, n) => request(n))
      const slow = await openSlowReaders(origin, requests)
      const served = countOf(slow.statuses(), 200)
      t.diagnostic(`${served} were answered, ${countOf(slow.statuses(), 503)} told to come again`)
      assert.ok(served >= 1)
      assert.equal(served + countOf(slow.statuses(), 503), readers)
      if (cut) {
        // A client that does not read does not notice that it was disconnected.
        await delay(cutWithinMs)
        slow.resume()
        await delay(2_000)
        t.diagnostic(`${slow.ended()} were cut off`)
        assert.ok(slow.ended() >= served / 2, `${slow.ended()} of ${served}`)
      }
      slow.close()
      const [again] = (await openSlowReaders(origin, [request(readers + 1)])).statuses()
      assert.equal(again, 200, 'afterwards all is free again')
    })
    t.diagnostic(`the API grew by ${apiMiB} MiB, the Space service by ${spaceMiB} MiB`)
    assert.ok(apiMiB < limitMiB && spaceMiB < limitMiB, `API ${apiMiB} MiB, Space ${spaceMiB} MiB`)
  })
}
