import assert from 'node:assert/strict'
import test from 'node:test'
import { oembedFor } from './oembed.ts'
import type { SharePageInput } from './share-page.ts'

const INPUT: SharePageInput = {
  id: 'col_1',
  metadata: { share_title: 'Dusk & "dawn"' },
  state: 'open',
  publicUrl: 'http://localhost:8787',
  pageUrl: 'http://localhost:8787/v1/collections/col_1/render',
  oembedUrl: 'http://localhost:8787/oembed',
}
const PICTURE = { kind: 'image', url: 'https://cdn.example/a.png', width: 1200, height: 630 } as const
const COMMON = { version: '1.0', title: 'Dusk & "dawn"', provider_name: 'Atrium', provider_url: 'http://localhost:8787/' }

test('a picture of known size is a photo', () => {
  assert.deepEqual(oembedFor({ ...INPUT, hero: PICTURE }), {
    type: 'photo',
    ...COMMON,
    url: PICTURE.url,
    width: 1200,
    height: 630,
  })
})

test('a picture larger than asked for, of unknown size, or moving is a frame within the limits', () => {
  assert.equal(oembedFor({ ...INPUT, hero: { ...PICTURE, height: null } }).type, 'rich')
  assert.equal(oembedFor({ ...INPUT, hero: { ...PICTURE, kind: 'clip', mime: 'video/mp4' } }).type, 'rich')
  const rich = oembedFor({ ...INPUT, hero: PICTURE }, { maxWidth: 400, maxHeight: 300 })
  assert.deepEqual([rich.type, rich.width, rich.height], ['rich', 400, 300])
  assert.match(
    String(rich.html),
    /^<iframe src="http:\/\/localhost:8787\/v1\/collections\/col_1\/render" title="Dusk &amp; &quot;dawn&quot;" width="400"/,
  )
})

test('a card is the thumbnail where there is no hero, within the limits', () => {
  const card = { ...PICTURE, kind: 'card' } as const
  const thumbnail = { thumbnail_url: PICTURE.url, thumbnail_width: 1200, thumbnail_height: 630 }
  assert.deepEqual(oembedFor({ ...INPUT, card }), { type: 'link', ...COMMON, ...thumbnail })
  assert.deepEqual(oembedFor({ ...INPUT, card }, { maxWidth: 400 }), { type: 'link', ...COMMON })
  assert.equal(oembedFor({ ...INPUT, hero: PICTURE, card }).type, 'photo')
})

test('without a hero, or with one that may not be shown, the answer is a link', () => {
  assert.deepEqual(oembedFor(INPUT), { type: 'link', ...COMMON })
  assert.equal(oembedFor({ ...INPUT, hero: { ...PICTURE, url: 'javascript:alert(1)' } }).type, 'link')
})
