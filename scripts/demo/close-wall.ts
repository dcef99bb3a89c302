import assert from 'node:assert/strict'
import type { AtriumClient } from '../../packages/client/src/call.ts'
import { note, step } from './narrate.ts'
import type { Collection } from './wall.ts'

/** Closes the collection: its items stay, and nobody can add more. */
export async function closeWall(owner: AtriumClient, people: AtriumClient, collection: Collection): Promise<void> {
  step('The evening ends')
  const { id, ownerToken, contributorToken } = collection
  const { data } = await owner.setCollectionState({ id, collectionToken: ownerToken, body: { state: 'ready' } })
  note(`The collection is ${data.state}.`)
  const late = { type: 'message', content: { text: 'Am I too late?' } }
  await assert.rejects(people.addItem({ id, collectionToken: contributorToken, body: late }), { code: 'collection_not_open' })
  note('Somebody comes late: refused, collection_not_open.')
}
