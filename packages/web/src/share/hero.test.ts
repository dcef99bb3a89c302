import assert from 'node:assert/strict'
import test from 'node:test'
import { readHero, type HeroInput } from './hero.ts'

const PUBLIC_URL = 'http://localhost:8787'

function read(hero: Partial<HeroInput>): ReturnType<typeof readHero> {
  return readHero({ kind: 'image', url: '/v1/media/art_1', ...hero }, PUBLIC_URL)
}

test('https, and the own origin whatever its scheme, may be shown', () => {
  assert.equal(read({ url: 'https://cdn.example/a.png' })?.origin, 'https://cdn.example')
  assert.equal(read({ url: `${PUBLIC_URL}/v1/media/art_1` })?.url, 'http://localhost:8787/v1/media/art_1')
  assert.equal(read({ url: '/v1/media/art_1' })?.url, 'http://localhost:8787/v1/media/art_1')
})

test('no other URL may be shown', () => {
  const refused = [
    'http://cdn.example/a.png',
    'http://localhost:8788/a.png',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' java\nscript:alert(1)',
    'data:image/svg+xml,<svg onload=alert(1)>',
    'blob:http://localhost:8787/x',
    'file:///etc/passwd',
    'ftp://x/y',
    '//cdn.example/a.png',
    'https://user:secret@cdn.example/a.png',
    'https://',
    `https://cdn.example/${'a'.repeat(3_000)}`,
  ]
  for (const url of refused) assert.equal(read({ url }), undefined, url)
  for (const url of [undefined, null, 7, ['https://a.example'], {}]) assert.equal(read({ url: url as string }), undefined)
  assert.equal(readHero(undefined, PUBLIC_URL), undefined)
})

test('a host cannot write into the policy', () => {
  for (const url of ["https://a;script-src'unsafe-inline'/x", 'https://a,b/x', "https://a'b/x", 'https://[::1]/x']) {
    assert.ok(URL.canParse(url), url)
    assert.equal(read({ url }), undefined, url)
  }
  assert.equal(readHero({ kind: 'image', url: '/x' }, 'http://[::1]:8787')?.origin, undefined)
})

test('a clip is a video only when its type is one that browsers play', () => {
  assert.equal(read({ kind: 'clip', mime: 'video/mp4' })?.element, 'video')
  assert.equal(read({ kind: 'clip', mime: 'Video/WebM; codecs=vp9' })?.element, 'video')
  for (const mime of ['image/webp', 'video/quicktime', 'text/html', '', null])
    assert.equal(read({ kind: 'clip', mime })?.element, 'img')
  assert.equal(read({ kind: 'image', mime: 'video/mp4' })?.element, 'img')
})

test('a size is both sides or none', () => {
  assert.deepEqual(read({ width: 1200, height: 630 })?.size, { width: 1200, height: 630 })
  for (const [width, height] of [
    [1200, null],
    [0, 10],
    [-1, 10],
    [1.5, 10],
    [1e9, 10],
    [NaN, 10],
    ['1', 10],
  ]) {
    assert.equal(read({ width: width as number, height: height as number })?.size, undefined)
  }
})

test('a still picture of this installation has smaller files, each with the size that it really has', () => {
  const smaller = (width: number, height: number, rest: Partial<HeroInput> = {}) =>
    read({ width, height, mime: 'image/png', ...rest })?.smaller?.map(({ url, ...size }) => [
      url.replace(PUBLIC_URL, ''),
      `${size.width}×${size.height}`,
    ])
  assert.deepEqual(smaller(4_000, 3_000), [
    ['/v1/media/art_1?w=640', '640×480'],
    ['/v1/media/art_1?w=1280', '1280×960'],
    ['/v1/media/art_1?w=1920', '1920×1440'],
  ])
  assert.deepEqual(smaller(1_200, 630)?.at(-1), ['/v1/media/art_1?w=1280', '1200×630'], 'pictures are not enlarged')
  assert.deepEqual(smaller(300, 200), [['/v1/media/art_1?w=640', '300×200']])
  assert.deepEqual(smaller(600, 1_300), [], 'the server makes it narrower than the width that is asked for')
  for (const mime of ['image/webp', 'image/gif', 'video/mp4', null]) assert.equal(smaller(900, 600, { mime }), undefined)
  for (const url of ['https://cdn.example/v1/media/art_1', '/other/art_1'])
    assert.equal(smaller(900, 600, { url }), undefined, url)
})
