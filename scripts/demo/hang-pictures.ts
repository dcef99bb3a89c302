import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'
import type { AtriumClient } from '../../packages/client/src/call.ts'
import { note, step } from './narrate.ts'
import type { Collection, Wall, WallArtifact } from './wall.ts'

/** The addresses at which the server shows the pictures, outside production. */
export function pictureUrl(publicUrl: string, { file }: WallArtifact): string {
  return `${publicUrl}/examples/event-wall/${basename(file)}`
}

/** Links the pictures by their addresses, publishes the finished ones and makes one the hero. */
export async function hangPictures(
  owner: AtriumClient,
  people: AtriumClient,
  collection: Collection,
  wall: Wall,
  publicUrl: string,
) {
  step('The owner adds pictures and publishes them')
  const { id, ownerToken: collectionToken } = collection
  for (const artifact of wall.artifacts) {
    const { kind, title, alt, publish, hero } = artifact
    const body = { kind, title, alt, url: pictureUrl(publicUrl, artifact) }
    const { data } = await owner.createArtifact({ id, collectionToken, body, idempotencyKey: randomUUID() })
    const curation = { ...(publish ? { published: true } : {}), ...(hero ? { hero: true } : {}) }
    if (publish) await owner.curateArtifact({ id, artifactId: data.id, collectionToken, body: curation })
    note(`${title}: ${hero ? 'published, the hero of the share page' : publish ? 'published' : 'stays private'}`)
  }

  const { data: seen } = await people.listArtifacts({ id })
  assert.deepEqual(
    seen.map(({ title }) => title),
    wall.artifacts.filter(({ publish }) => publish).map(({ title }) => title),
    'visitors see what is published, and nothing else',
  )
  note(`Visitors see ${seen.length} of the ${wall.artifacts.length}.`)
}
