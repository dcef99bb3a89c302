import assert from 'node:assert/strict'
import type { AtriumClient } from '../../packages/client/src/call.ts'
import { pictureUrl } from './hang-pictures.ts'
import { note, step } from './narrate.ts'
import type { Collection, Wall } from './wall.ts'

const characters: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

/** Reads the share page as a visitor would, and checks that it shows the one picture and none of the items. */
export async function checkSharePage(anyone: AtriumClient, { id }: Collection, wall: Wall, publicUrl: string): Promise<void> {
  step('Anyone with the link opens the share page')
  const { data } = await anyone.renderCollection({ id })
  const page = data.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => characters[entity] ?? entity)
  const { share_title } = wall.collection.metadata
  assert.ok(page.includes(share_title), 'the share page shows the title')
  for (const artifact of wall.artifacts) {
    assert.equal(
      page.includes(pictureUrl(publicUrl, artifact)),
      artifact.hero === true,
      `of the pictures only the hero: ${artifact.file}`,
    )
  }
  for (const { content } of wall.items) assert.ok(!page.includes(content.text), `the share page shows no item: ${content.text}`)
  note(`It shows "${share_title}" with "${wall.artifacts.find(({ hero }) => hero)?.title}",`)
  note(`and none of the ${wall.items.length} items.`)
}
