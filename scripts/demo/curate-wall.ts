import assert from 'node:assert/strict'
import type { AtriumClient } from '../../packages/client/src/call.ts'
import { paginate } from '../../packages/client/src/paginate.ts'
import { itemAt, type Collection, type Wall } from './wall.ts'
import { note, step } from './narrate.ts'

const pageSize = 25

/** Reads the whole wall as its owner, and curates it. */
export async function curateWall(owner: AtriumClient, collection: Collection, { items, curation }: Wall, itemIds: string[]) {
  step('The owner reads everything and curates')
  const { id, ownerToken: collectionToken } = collection
  const sent = new Map(itemIds.map((itemId, index) => [itemId, itemAt(items, index).content]))
  let count = 0
  for await (const item of paginate(owner.listItems, { id, collectionToken, query: { limit: pageSize } })) {
    assert.deepEqual(item.content, sent.get(item.id), `${item.id} is listed once, as it was sent`)
    sent.delete(item.id)
    count++
  }
  assert.equal(count, items.length, 'every item is listed')
  note(`Listed ${count} items, in pages of ${pageSize}: every one is there once, word for word.`)

  const curate = (index: number, body: { archived?: true; approved?: false; hero?: true }) =>
    owner.curateItem({ id, itemId: itemAt(itemIds, index), collectionToken, body })
  for (const index of curation.archive) await curate(index, { archived: true })
  note(`Archived ${curation.archive.length}: a spam, a duplicate, an off-topic one, a rude one and a test.`)
  for (const index of curation.unapprove) await curate(index, { approved: false })
  note(`Held back ${curation.unapprove.length}.`)
  await curate(curation.hero, { hero: true })
  note('Made one the hero among the items:')
  for (const line of itemAt(items, curation.hero).content.text.split('\n')) note(`  ${line}`)

  const { data } = await owner.getCollection({ id })
  assert.equal(data.item_count, items.length - curation.archive.length - curation.unapprove.length)
  note(`${data.item_count} items count now.`)
}
