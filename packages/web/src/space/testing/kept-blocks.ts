import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'

/** What IndexedDB has of all rooms, as text, and how many blocks of lines. */
function keptBlocks(page: Page): Promise<{ count: number; text: string }> {
  return page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.open('atrium-space-lines')
        request.addEventListener('error', () => reject(request.error))
        request.addEventListener('success', () => {
          const db = request.result
          if (!db.objectStoreNames.contains('blocks')) return resolve({ count: 0, text: '' })
          const all = db.transaction('blocks').objectStore('blocks').getAll()
          all.addEventListener('success', () => {
            db.close()
            const text = all.result.map(({ sealed }) => new TextDecoder('latin1').decode(sealed)).join('')
            resolve({ count: all.result.length, text })
          })
        })
      }),
  )
}

/** Resolves to what is kept, once there are so many blocks. */
export async function waitForBlocks(page: Page, count: number): Promise<string> {
  for (;;) {
    const kept = await keptBlocks(page)
    if (kept.count === count) return kept.text
    await page.waitForTimeout(100)
  }
}

export interface ReadPage {
  lines: string[]
  count: number
  etag: string
}

/** The answers to `read`, and each may be replaced. */
export async function watchReads(page: Page, replace: (answer: ReadPage) => ReadPage = (answer) => answer): Promise<ReadPage[]> {
  const answers: ReadPage[] = []
  await page.route('**/space', async (route, request) => {
    if (!request.postData()?.includes('"op":"read"')) return route.fallback()
    const response = await route.fetch({ timeout: 60_000 })
    if (!response.ok()) return route.fulfill({ response })
    const answer = replace((await response.json()) as ReadPage)
    answers.push(answer)
    await route.fulfill({ response, json: answer })
  })
  return answers
}

/** How long 5,000 P-256 verifications take. Runs in a page or in a worker. */
async function verify(): Promise<number> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify'])
  const text = new Uint8Array(512)
  const signature = await crypto.subtle.sign(algorithm, privateKey, text)
  const start = performance.now()
  for (let i = 0; i < 5_000; i++) await crypto.subtle.verify(algorithm, publicKey, signature, text)
  return Math.round(performance.now() - start)
}

/**
 * The time that the page's worker spends on the lines while `visit` opens them, and the time of the same number of
 * verifications. The second is measured before and after, and the longer one counts: a busy machine slows down both times,
 * but may be busy for a part of them only.
 */
export async function timeOfWorker(
  page: Page,
  origin: string,
  visit: () => Promise<unknown>,
): Promise<{ workerMs: number; verifyMs: number }> {
  // Something of the origin that is not the app.
  await page.goto(`${origin}/healthz`)
  const beforeMs = await page.evaluate(verify)
  await visit()
  const [worker] = page.workers()
  assert.ok(worker, 'the lines are opened in a worker')
  const workerMs = await worker.evaluate(() =>
    performance.getEntriesByName('lines').reduce((sum, { duration }) => sum + duration, 0),
  )
  return { workerMs: Math.round(workerMs), verifyMs: Math.max(beforeMs, await worker.evaluate(verify)) }
}
