import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import { startRealSpace } from './testing/start-real-space.ts'
import type { TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeSealedRoom, newVisitor, type Visitor, write } from './testing/visitor.ts'

/** What IndexedDB has: the rooms, and the blocks of which rooms. */
interface Kept {
  rooms: string[]
  blocks: string[]
}

describe('the bounds of what this device keeps of lines', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startRealSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  const shown = (page: Page, text: string) => page.locator('.message', { hasText: text }).first().waitFor()

  const kept = (page: Page) =>
    page.evaluate(
      () =>
        new Promise<Kept>((resolve, reject) => {
          const request = indexedDB.open('atrium-space-lines')
          request.addEventListener('error', () => reject(request.error))
          request.addEventListener('success', () => {
            const db = request.result
            if (!db.objectStoreNames.contains('blocks')) return resolve({ rooms: [], blocks: [] })
            const transaction = db.transaction(['rooms', 'blocks'])
            const rooms = transaction.objectStore('rooms').getAllKeys()
            const blocks = transaction.objectStore('blocks').getAllKeys()
            transaction.addEventListener('complete', () => {
              db.close()
              // What follows the slash depends on the key.
              const roomOf = (name: string) => name.split('/')[0] ?? ''
              resolve({
                rooms: rooms.result.map((name) => roomOf(String(name))),
                blocks: blocks.result.map((key) => roomOf((key as [string])[0])),
              })
            })
          })
        }),
    )

  async function waitForKept(page: Page, isThere: (kept: Kept) => boolean): Promise<Kept> {
    for (let tries = 0; ; tries++) {
      const now = await kept(page)
      if (isThere(now)) return now
      assert.ok(tries < 200, JSON.stringify(now))
      await page.waitForTimeout(50)
    }
  }

  /** The cache is written in the worker. Runs a script there before the worker's own. */
  const changeWorker = ({ context }: Visitor, script: string) =>
    context.route('**/line-worker-*.js', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: `${script};\n${await response.text()}` })
    })

  /** As if this device had opened other rooms: each has one block, and says how large it is. */
  const addRooms = (page: Page, rooms: readonly { room: string; usedAt: number; bytes: number }[]) =>
    page.evaluate(
      (added) =>
        new Promise<void>((resolve) => {
          const request = indexedDB.open('atrium-space-lines')
          request.addEventListener('success', () => {
            const transaction = request.result.transaction(['rooms', 'blocks'], 'readwrite')
            for (const { room, usedAt, bytes } of added) {
              transaction.objectStore('rooms').put({ usedAt, bytes }, room)
              transaction.objectStore('blocks').put({ iv: new Uint8Array(12), sealed: new ArrayBuffer(8) }, [room, 0])
            }
            transaction.addEventListener('complete', () => {
              request.result.close()
              resolve()
            })
          })
        }),
      rooms,
    )

  test('where the browser has no space left for the key of a guest, people write nevertheless', async () => {
    const ann = await newVisitor(browser)
    await ann.context.addInitScript(() => {
      const { add } = IDBObjectStore.prototype
      IDBObjectStore.prototype.add = function (...row) {
        const request = add.apply(this, row)
        this.transaction.abort()
        return request
      }
    })
    await makeSealedRoom(ann.page, space.origin)
    await write(ann.page, 'Written without space')
    await shown(ann.page, 'Written without space')
    await ann.close()
  })

  test('when all rooms have 64 MiB, those that were opened least recently are dropped with all their blocks', async () => {
    const ann = await newVisitor(browser)
    const { room } = await makeSealedRoom(ann.page, space.origin)
    await waitForKept(ann.page, ({ rooms }) => rooms.includes(room))
    const mebibyte = 1024 * 1024
    await addRooms(ann.page, [
      { room: 'oldest', usedAt: 1, bytes: 30 * mebibyte },
      { room: 'older', usedAt: 2, bytes: 34 * mebibyte },
      { room: 'newer', usedAt: 3, bytes: 20 * mebibyte },
    ])
    await write(ann.page, 'One more line')
    await shown(ann.page, 'One more line')
    const { rooms, blocks } = await waitForKept(ann.page, (now) => !now.rooms.includes('oldest'))
    assert.deepEqual(rooms.toSorted(), ['newer', 'older', room].toSorted())
    assert.deepEqual([...new Set(blocks)].toSorted(), rooms.toSorted())
    assertNoTrouble(ann)
    await ann.close()
  })

  test('a room that alone is larger is not kept, and is read all the same', async () => {
    const ann = await newVisitor(browser)
    const { room, link } = await makeSealedRoom(ann.page, space.origin)
    await waitForKept(ann.page, ({ rooms }) => rooms.includes(room))
    await changeWorker(
      ann,
      `const encrypt = SubtleCrypto.prototype.encrypt
      SubtleCrypto.prototype.encrypt = async function (...args) {
        return Object.defineProperty(await encrypt.apply(this, args), 'byteLength', { value: 65 * 1024 * 1024 })
      }`,
    )
    await ann.page.goto('about:blank')
    await ann.page.goto(link)
    await write(ann.page, 'Too much')
    await shown(ann.page, 'Too much')
    await waitForKept(ann.page, ({ rooms, blocks }) => rooms.length === 0 && blocks.length === 0)
    await ann.context.unrouteAll({ behavior: 'ignoreErrors' })
    await ann.close()
  })

  const faults: Record<string, string> = {
    // As browsers do when the disk is full: the request or the whole transaction fails.
    'refuses to store a room’s use': `
      const put = IDBObjectStore.prototype.put
      IDBObjectStore.prototype.put = function (...args) {
        if (this.name === 'rooms') throw new DOMException('full', 'QuotaExceededError')
        return put.apply(this, args)
      }`,
    'aborts each transaction that writes': `
      const put = IDBObjectStore.prototype.put
      IDBObjectStore.prototype.put = function (...args) {
        const request = put.apply(this, args)
        if (this.name === 'rooms') request.addEventListener('success', () => this.transaction.abort())
        return request
      }`,
    'opens no database': `
      IDBFactory.prototype.open = () => { throw new DOMException('off', 'SecurityError') }`,
  }
  for (const [what, script] of Object.entries(faults)) {
    test(`in a browser that ${what}, nothing is kept by halves, and the room works`, async () => {
      const ann = await newVisitor(browser)
      const cache = what === 'opens no database' ? undefined : ann.page
      await changeWorker(ann, script)
      const { link } = await makeSealedRoom(ann.page, space.origin)
      for (const text of ['One', 'Two']) {
        await write(ann.page, text)
        await shown(ann.page, text)
      }
      await ann.page.goto('about:blank')
      await ann.page.goto(link)
      await shown(ann.page, 'Two')
      if (cache) assert.deepEqual(await kept(cache), { rooms: [], blocks: [] })
      assertNoTrouble(ann)
      await ann.context.unrouteAll({ behavior: 'ignoreErrors' })
      await ann.close()
    })
  }
})
