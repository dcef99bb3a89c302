import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { chunksOf, difference, impressionOf } from '@atrium/painter/testing/pixels'
import { makeCard } from './make-card.ts'
import { ProduceError } from './produce-error.ts'

type Pixels = { data: Buffer; width: number; height: number }

async function pixels(png: Uint8Array): Promise<Pixels> {
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height }
}

/** The share of a region's pixels that are not the colour of its first. */
function inked({ data, width }: Pixels, left: number, top: number, right: number, bottom: number): number {
  const at = (x: number, y: number): number => (y * width + x) * 3
  let count = 0
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const away = [0, 1, 2].reduce((sum, part) => sum + Math.abs(data[at(x, y) + part]! - data[at(left, top) + part]!), 0)
      if (away > 60) count++
    }
  }
  return count / ((right - left) * (bottom - top))
}

const picture = async (width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: '#c02030' } })
    .jpeg()
    .toBuffer()

describe('a card', () => {
  it('is 1200×630, the same bytes for the same request, with nothing in the file but the picture', async () => {
    const request = {
      title: 'The Long Night',
      subtitle: 'Alder Quay',
      theme: 'paper',
      excerpts: [{ text: 'Hello', author: 'Jo' }],
      picture: await picture(800, 600),
    }
    const [one, two] = [await makeCard(request), await makeCard(request)]
    assert.deepEqual({ width: one.width, height: one.height }, { width: 1200, height: 630 })
    assert.deepEqual(
      await sharp(one.png)
        .metadata()
        .then(({ width, height, format }) => ({ width, height, format })),
      { width: 1200, height: 630, format: 'png' },
    )
    assert.ok(one.png.equals(two.png))
    assert.ok(chunksOf(one.png).every((name) => ['IHDR', 'pHYs', 'IDAT', 'IEND'].includes(name)))
  })

  it('takes its colours from the theme', async () => {
    const brightness = async (theme: unknown): Promise<number> =>
      (await impressionOf((await makeCard({ title: 'Colours', theme, template: 'title' })).png)).brightness
    assert.ok((await brightness('light')) > 0.85)
    assert.ok((await brightness('paper')) > 0.8)
    assert.ok((await brightness('dark')) < 0.15)
    assert.ok((await brightness('neon')) < 0.25)
    assert.ok((await brightness({ background: '#ff0000' })) < 0.5)
    const paper = await impressionOf((await makeCard({ title: 'Colours', theme: 'paper', template: 'title' })).png)
    assert.ok(paper.warmth > 0.02)
  })

  it('has layouts that differ, and the usual one for a name it does not know', async () => {
    const excerpts = [{ text: 'One' }, { text: 'Two' }, { text: 'Three' }]
    const by = async (template?: string): Promise<Buffer> => (await makeCard({ title: 'Layouts', excerpts, template })).png
    const names = [undefined, 'cover', 'quotes', 'title']
    const cards = await Promise.all(names.map(by))
    for (const [index, one] of cards.entries())
      for (const other of cards.slice(index + 1)) assert.ok((await difference(one, other)) > 0.01)
    assert.ok((await by('__proto__')).equals(cards[0]!))
  })

  it('shows the picture it is given', async () => {
    for (const template of ['default', 'cover']) {
      const { png } = await makeCard({ title: 'With a picture', picture: await picture(640, 480), template, theme: 'light' })
      const { data, width } = await pixels(png)
      const at = (60 * width + 1000) * 3
      assert.ok(data[at]! > 150 && data[at + 1]! < 60, template)
    }
  })

  it('shows markup as the characters it is made of', async () => {
    const plain = (await makeCard({ title: 'a b', template: 'title' })).png
    const marked = (await makeCard({ title: 'a <b>b</b> &amp; <img src=x>', template: 'title' })).png
    assert.ok((await difference(plain, marked)) > 0.01)
  })

  it('refuses what is not a picture, and pictures made to harm, in a short time', async () => {
    const bomb = withSize(
      await sharp({ create: { width: 8, height: 8, channels: 3, background: '#000' } })
        .png()
        .toBuffer(),
      30_000,
    )
    const whole = await sharp({ create: { width: 600, height: 600, channels: 3, background: '#123' } })
      .png()
      .toBuffer()
    const hostile = [
      Buffer.from('GIF89a'),
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'),
      Buffer.alloc(0),
      whole.subarray(0, 200),
      bomb,
      Buffer.from('%PDF-1.4'),
    ]
    for (const bytes of hostile) {
      const started = Date.now()
      await assert.rejects(
        makeCard({ title: 'x', picture: bytes }),
        (error) => error instanceof ProduceError && error.code === 'bad_input',
      )
      assert.ok(Date.now() - started < 10_000)
    }
  })
})

describe('the words of a card', () => {
  it('stand at the right where they are read from there', async () => {
    const left = await pixels(
      (await makeCard({ title: 'harbour', template: 'quotes', excerpts: [{ text: '·' }], theme: 'light' })).png,
    )
    const right = await pixels(
      (await makeCard({ title: 'ספרייה', template: 'quotes', excerpts: [{ text: '·' }], theme: 'light' })).png,
    )
    assert.ok(inked(left, 40, 100, 600, 190) > 0.01 && inked(left, 700, 100, 1160, 190) === 0)
    assert.ok(inked(right, 700, 100, 1160, 190) > 0.01 && inked(right, 40, 100, 600, 190) === 0)
  })

  it('stay inside their box however long they are, and end in an ellipsis', async () => {
    const long = [
      'word '.repeat(200),
      'W'.repeat(400),
      'мы'.repeat(300),
      '図書館'.repeat(200),
      'مكتبة '.repeat(200),
      'पुस्तकालय '.repeat(100),
      `a${'\u0301'.repeat(5000)}`,
    ]
    for (const title of long) {
      for (const template of ['default', 'quotes', 'title', 'cover']) {
        const card = await makeCard({
          title,
          subtitle: title,
          template,
          theme: 'light',
          excerpts: [{ text: title, author: title }, { text: title }],
        })
        const { data, width } = await pixels(card.png)
        // The outer margin shows the ground, or the picture on a cover, and never a letter.
        for (const [x, y] of [
          [8, 8],
          [590, 8],
          [8, 300],
          [8, 620],
          [590, 621],
          [300, 624],
        ] as const) {
          const at = (y * width + x) * 3
          if (template !== 'cover') assert.ok(data[at]! > 235, `${template} ${x},${y}: ${title.slice(0, 12)}`)
        }
        if (template !== 'cover')
          assert.equal(inked(await pixels(card.png), 2, 2, 1198, 30), 0, `${template}: ${title.slice(0, 12)}`)
      }
    }
  })

  it('without a single letter still make a card', async () => {
    for (const title of ['', '   ', '\u0000\u202E', '\uD800']) assert.equal((await makeCard({ title })).width, 1200)
  })
})

/** The same PNG, whose header claims another size. */
function withSize(png: Buffer, side: number): Buffer {
  const changed = Buffer.from(png)
  changed.writeUInt32BE(side, 16)
  changed.writeUInt32BE(side, 20)
  changed.writeUInt32BE(crc32(changed.subarray(12, 29)), 29)
  return changed
}
