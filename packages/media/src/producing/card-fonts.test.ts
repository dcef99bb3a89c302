import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { Renderer } from '@takumi-rs/core'
import { difference, impressionOf } from '@atrium/painter/testing/pixels'
import { cardRenderer, familiesFrom } from './card-fonts.ts'

// First in this file: the other tests open the renderer.
it('a renderer that could not load a font is opened anew by the next card', async (t) => {
  const failing = t.mock.method(Renderer.prototype, 'registerFont', () => Promise.reject(new Error('no such file')))
  await assert.rejects(cardRenderer(), { message: 'no such file' })
  failing.mock.restore()
  assert.ok((await difference(await raster('harbour'), await raster(' '))) > 0.005, 'nothing drawn')
})

describe('the letters of a card', () => {
  // Two words of one length in each script: boxes for missing letters would look the same.
  const scripts: Record<string, [string, string]> = {
    Latin: ['harbour', 'seaside'],
    'accented Latin': ['Ğüéşßø', 'Łžčřőñ'],
    Vietnamese: ['Tiếng', 'Đường'],
    Greek: ['θάλασσα', 'βιβλίον'],
    Cyrillic: ['библиотека', 'набережная'],
    Arabic: ['مكتبة', 'سفينة'],
    Hebrew: ['ספרייה', 'סירותי'],
    Devanagari: ['पुस्तक', 'विद्या'],
    Bengali: ['পুস্তক', 'বিদ্যা'],
    Tamil: ['நூலகம்', 'கடலலை'],
    Thai: ['หนังสือ', 'เรือใบไม้'],
    Georgian: ['წიგნი', 'ზღვაა'],
    Armenian: ['գիրքեր', 'ծովափն'],
    'simplified Chinese': ['图书馆', '纸船灯'],
    'traditional Chinese': ['圖書館', '紙船燈'],
    Japanese: ['図書館', 'ひらが'],
    Katakana: ['カタカナ', 'ボートピ'],
    Korean: ['도서관', '종이배'],
    emoji: ['🎉🕯️', '📚⛵'],
    'joined emoji': ['👩‍🚀', '🏳️‍🌈'],
  }

  before(async () => {
    await cardRenderer()
  })

  for (const [script, [one, other]] of Object.entries(scripts)) {
    it(`in ${script} are drawn with real letters, not with boxes`, async () => {
      const [a, b, blank] = await Promise.all([one, other, ' '].map(async (text) => raster(text)))
      const missing = await raster('\u{10FFFD}'.repeat([...new Intl.Segmenter('en').segment(one)].length))
      assert.ok((await difference(a!, blank!)) > 0.005, 'nothing drawn')
      assert.ok((await difference(a!, b!)) > 0.002, 'two words look the same')
      assert.ok((await difference(a!, missing)) > 0.002, 'looks like missing letters')
      const count = await missingIn(one + other)
      assert.deepEqual(count, [], 'letters that look like the missing one')
    })
  }

  it('in emoji keep their colours', async () => {
    assert.ok((await impressionOf(await raster('🎉🏳️‍🌈❤️'))).colour > 0.01)
    assert.ok((await impressionOf(await raster('harbour'))).colour < 0.001)
  })
})

/** One line of text in black on white, as PNG. */
async function raster(text: string): Promise<Buffer> {
  const renderer = await cardRenderer()
  const node = {
    type: 'container' as const,
    style: { display: 'flex', width: 600, height: 120, backgroundColor: '#fff', padding: 20 },
    children: [
      { type: 'text' as const, text, style: { fontSize: 56, color: '#000', fontFamily: familiesFrom('Inter').join(', ') } },
    ],
  }
  return renderer.render(node, { width: 600, height: 120, fontFamilies: familiesFrom('Inter') })
}

/** The letters that, standing alone, cannot be told from one that no font has. */
async function missingIn(text: string): Promise<string[]> {
  const unknown = await raster('\u{10FFFD}')
  const letters = [...new Set(text)].filter((letter) => /\p{L}|\p{Extended_Pictographic}/u.test(letter))
  const looks = await Promise.all(
    letters.map(async (letter) => ({ letter, same: (await difference(await raster(letter), unknown)) === 0 })),
  )
  return looks.filter(({ same }) => same).map(({ letter }) => letter)
}
