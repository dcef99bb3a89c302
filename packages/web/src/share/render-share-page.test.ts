import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { renderShareNotFound, renderSharePage, type RenderedPage } from './render-share-page.ts'
import type { SharePageInput } from './share-page.ts'

const sha256Base64 = (text: string): string => createHash('sha256').update(text).digest('base64')

const INPUT: SharePageInput = {
  id: 'col_1',
  metadata: { share_title: 'Dusk', share_description: 'One.\n\nTwo,\nthree.' },
  state: 'open',
  hero: {
    kind: 'image',
    url: 'https://cdn.example/a.png?x=1&y=2',
    title: 'Bay',
    alt: 'A red bay',
    width: 1200,
    height: 630,
    mime: 'image/png',
  },
  publicUrl: 'http://localhost:8787',
  pageUrl: 'http://localhost:8787/v1/collections/col_1/render',
  oembedUrl: 'http://localhost:8787/oembed?url=a&format=json',
}

function render(changes: Partial<SharePageInput> = {}): RenderedPage {
  return renderSharePage({ ...INPUT, ...changes }, sha256Base64)
}

function assertHas(html: string, ...parts: string[]): void {
  for (const part of parts) assert.ok(html.includes(part), `no ${part}`)
}

function styleHash(html: string): string {
  const [, style] = /<style>(.*?)<\/style>/s.exec(html) ?? []
  return sha256Base64(style ?? '')
}

test('the policy is exactly its own style, and media of its own origin and the hero’s', () => {
  const { html, csp } = render()
  assert.equal(
    csp,
    `default-src 'none'; style-src 'sha256-${styleHash(html)}'; img-src 'self' https://cdn.example; media-src 'self' https://cdn.example; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors *; require-trusted-types-for 'script'",
  )
  const missing = renderShareNotFound(sha256Base64)
  for (const page of [render({ hero: undefined }), missing]) {
    assert.equal(
      page.csp,
      `default-src 'none'; style-src 'sha256-${styleHash(page.html)}'; img-src 'self'; media-src 'self'; ` +
        "base-uri 'none'; form-action 'none'; frame-ancestors *; require-trusted-types-for 'script'",
    )
  }
})

test('the same input gives the same bytes, without script or inline style', () => {
  assert.deepEqual(render(), render())
  for (const { html } of [render(), render({ hero: undefined }), renderShareNotFound(sha256Base64)]) {
    assert.doesNotMatch(html, /<script|style=|\son\w+=|data:|undefined|\[object|NaN/)
  }
})

test('previews, oEmbed discovery and canonical address are there, search engines are not invited', () => {
  assertHas(
    render().html,
    '<title>Dusk · Atrium</title>',
    '<meta property="og:title" content="Dusk">',
    '<meta property="og:description" content="One. Two, three.">',
    '<meta property="og:image" content="https://cdn.example/a.png?x=1&amp;y=2">',
    '<meta property="og:image:width" content="1200">',
    '<meta property="og:image:alt" content="A red bay">',
    '<meta name="twitter:card" content="summary_large_image">',
    '<link rel="canonical" href="http://localhost:8787/v1/collections/col_1/render">',
    '<link rel="alternate" type="application/json+oembed" href="http://localhost:8787/oembed?url=a&amp;format=json" title="Dusk">',
    '<meta name="robots" content="noindex,nofollow,noarchive">',
    '<meta name="referrer" content="no-referrer">',
  )
})

test('the description keeps its paragraphs and lines', () => {
  assertHas(render().html, '<p lang="" dir="auto">One.</p>\n<p lang="" dir="auto">Two,<br>three.</p>')
})

test('a picture has its size and words, a playable clip is a video, another clip a picture', () => {
  assertHas(render().html, 'alt="A red bay" width="1200" height="630"', '<figcaption lang="" dir="auto">Bay</figcaption>')
  const clip = { kind: 'clip', url: '/v1/media/art_1', mime: 'video/mp4' } as const
  const video = render({ hero: clip }).html
  assertHas(
    video,
    '<video class="hero" src="http://localhost:8787/v1/media/art_1" aria-label="Dusk" controls playsinline muted loop preload="metadata">',
  )
  assertHas(video, '<meta property="og:video:type" content="video/mp4">', '<meta name="twitter:card" content="summary">')
  assertHas(render({ hero: { ...clip, mime: 'image/webp' } }).html, '<img class="hero"')
})

test('a card is the preview where no picture is the hero, and nothing on the page itself', () => {
  const card = { kind: 'card', url: '/v1/media/art_2', title: 'Invitation', width: 1200, height: 630, mime: 'image/png' } as const
  const image = '<meta property="og:image" content="http://localhost:8787/v1/media/art_2?w=1280">'
  const previewed = render({ hero: undefined, card })
  assertHas(
    previewed.html,
    image,
    '<meta property="og:image:width" content="1200">',
    '<meta property="og:image:alt" content="Invitation">',
    '<meta name="twitter:card" content="summary_large_image">',
    '<meta name="twitter:image" content="http://localhost:8787/v1/media/art_2?w=1280">',
  )
  assert.ok(!previewed.html.includes('<img'))
  assert.equal(
    previewed.csp,
    render({ hero: undefined }).csp.replace(styleHash(render({ hero: undefined }).html), styleHash(previewed.html)),
  )
  const clip = { kind: 'clip', url: '/v1/media/art_1', mime: 'video/mp4' } as const
  assertHas(render({ hero: clip, card }).html, image, '<meta property="og:video" content="http://localhost:8787/v1/media/art_1">')
  assert.ok(!render({ card }).html.includes('art_2'), 'a picture that is the hero is the preview')
  assert.ok(!render({ hero: undefined, card: { ...card, url: 'javascript:alert(1)' } }).html.includes('og:image'))
})

test('without metadata the title is the hero’s, then a plain one', () => {
  for (const metadata of [null, undefined, 'x', 7, [], { share_title: 7 }, { share_title: ' ' }]) {
    assertHas(render({ metadata }).html, '<title>Bay · Atrium</title>')
    assertHas(render({ metadata, hero: undefined }).html, '<title>Untitled collection · Atrium</title>')
  }
})

test('the state closed is shown once, open and ready only without a picture', () => {
  assertHas(render({ state: 'closed' }).html, '<p class="state" dir="ltr">Closed</p>')
  assert.doesNotMatch(render({ state: 'ready' }).html, /class="state"|picture will appear/)
  assertHas(render({ state: 'open', hero: undefined }).html, 'Still gathering.')
  const empty = render({ state: 'closed', hero: undefined }).html
  assertHas(empty, 'This collection is closed.')
  assert.doesNotMatch(empty, /class="state"/)
})

test('the page runs in the direction of its title', () => {
  assertHas(
    render({ metadata: { share_title: 'ערב אחרון' } }).html,
    '<html lang="en" dir="rtl">',
    '<h1 lang="he" dir="auto">ערב אחרון</h1>',
  )
  assertHas(render().html, '<html lang="en" dir="ltr">')
})

test('a theme decides the colours that the browser’s own parts take', () => {
  assertHas(
    render({ metadata: { theme: 'dark' } }).html,
    '<meta name="color-scheme" content="dark">',
    '<meta name="theme-color" content="#0b0c0f">',
  )
  assertHas(
    render().html,
    '<meta name="color-scheme" content="light dark">',
    '<meta name="theme-color" media="(prefers-color-scheme:dark)"',
  )
})
