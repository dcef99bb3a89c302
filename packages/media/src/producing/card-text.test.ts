import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Node } from '@takumi-rs/core'
import { cardRenderer, familiesFrom } from './card-fonts.ts'
import { fitText, type TextBox } from './card-text.ts'

const box: Omit<TextBox, 'text'> = {
  width: 500,
  height: 200,
  sizes: [80, 60, 40, 24],
  weight: 700,
  colour: '#000000',
  face: 'Inter',
}

async function heightOf(node: Node): Promise<number> {
  const renderer = await cardRenderer()
  return (
    await renderer.measure(
      { type: 'container', style: { display: 'flex', flexDirection: 'column', width: 500 }, children: [node] },
      { width: 500, fontFamilies: familiesFrom('Inter') },
    )
  ).height
}

describe('fitting text', () => {
  it('sets short words large and longer ones smaller', async () => {
    assert.equal((await fitText({ ...box, text: 'Boats' })).size, 80)
    const longer = await fitText({ ...box, text: 'Paper boats on the water by night' })
    assert.ok(longer.size < 80 && longer.size > 24)
  })

  it('keeps text of any length and script within its box', async () => {
    for (const text of ['word '.repeat(90), 'W'.repeat(400), '図書館'.repeat(150), 'مكتبة '.repeat(90), 'पुस्तकालय '.repeat(60)]) {
      const { node, height, size } = await fitText({ ...box, text })
      assert.equal(size, 24)
      assert.ok(height <= 200 && (await heightOf(node)) <= 200, text.slice(0, 10))
    }
  })
})
