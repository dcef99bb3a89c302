import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { AtriumClient } from '../../packages/client/src/call.ts'
import { note, step } from './narrate.ts'
import { itemAt, type Collection, type Wall, type WallItem } from './wall.ts'

const peopleAtOnce = 12
const shownLanguages = ['ja', 'ar', 'el', 'hi', 'ka', 'th', 'am', 'zxx']
/** The code for content without a language, such as emoji alone (ISO 639-2). */
const noLanguage = 'zxx'

/** Adds the items from many browsers at the same time. Returns the ids of the items, in the order of the wall. */
export async function fillWall(people: AtriumClient, collection: Collection, { items }: Wall): Promise<string[]> {
  step('People leave their words, as their browsers would: with the publishable key and the contributor token')
  const first = itemAt(items, 0)
  await refuseStranger(people, collection, first)
  const ids = [await addTwice(people, collection, first)]

  const waiting = items.entries()
  waiting.next()
  const startedAt = performance.now()
  const visit = async () => {
    for (const [index, item] of waiting) ids[index] = await add(people, collection, item, randomUUID())
  }
  await Promise.all(Array.from({ length: peopleAtOnce }, visit))
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const authors = new Set(items.map(({ author }) => author)).size
  // zh-Hans and zh-Hant are one language in two scripts.
  const languages = new Set(items.map(({ content }) => content.lang.split('-')[0])).difference(new Set([noLanguage]))
  note(`${ids.length} items from ${authors} people in ${languages.size} languages, ${peopleAtOnce} at a time, in ${seconds} s:`)
  for (const lang of shownLanguages)
    items
      .filter(({ content }) => content.lang === lang)
      .slice(0, 1)
      .forEach(show)
  return ids
}

async function add(people: AtriumClient, { id, contributorToken }: Collection, item: WallItem, idempotencyKey: string) {
  const { data } = await people.addItem({ id, collectionToken: contributorToken, body: item, idempotencyKey })
  assert.ok(data.id, 'an added item has an id')
  return data.id
}

async function refuseStranger(people: AtriumClient, { id }: Collection, item: WallItem): Promise<void> {
  await assert.rejects(people.addItem({ id, body: item }), { code: 'contributor_token_required' })
  note('Somebody without the contributor token tries: refused, contributor_token_required.')
}

/** Simulates a bad connection: the answer was lost, so the browser repeats the request. */
async function addTwice(people: AtriumClient, { id, contributorToken }: Collection, item: WallItem): Promise<string> {
  const input = { id, collectionToken: contributorToken, body: item, idempotencyKey: randomUUID() }
  const first = await people.addItem(input)
  const second = await people.addItem(input)
  assert.ok(first.data.id)
  assert.equal(second.data.id, first.data.id, 'a retry adds nothing')
  assert.equal(second.headers.get('idempotency-status'), 'replayed')
  note(`${item.author}, loses the answer and sends again: Idempotency-Status: replayed, still one item.`)
  return first.data.id
}

function show({ author, content }: WallItem): void {
  note(`  ${author}: ${content.text}`)
}
