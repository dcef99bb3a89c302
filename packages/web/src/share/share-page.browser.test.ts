import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { toHex } from './colour.ts'
import { HOSTILE_METADATA, HOSTILE_TEXTS } from '../testing/hostile-values.ts'
import { oembedFor } from './oembed.ts'
import { parseColour } from './parse-colour.ts'
import { renderShareNotFound, renderSharePage, type RenderedPage } from './render-share-page.ts'
import type { SharePageInput } from './share-page.ts'
import { assertAccessible, skipWithoutChromium, startTestBrowser, startTestServer } from '../testing/start-test-browser.ts'

const PAGE_PATH = '/v1/collections/col_1/render'
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630"><rect width="1200" height="630" fill="#c0567a"/></svg>'
const ELEMENTS = new Set(
  `html head meta title link style body main article figure figcaption bdi img video div p h1 br footer a svg path circle g clipPath`.split(
    ' ',
  ),
)

const sha256Base64 = (text: string): string => createHash('sha256').update(text).digest('base64')

/** Records events of a visit that a share page must never cause. */
type Visit = {
  page: Page
  ran: number
  violations: string[]
  foreign: string[]
  elements: string[]
  handlers: string[]
  close: () => Promise<void>
}

describe('the share page in Chromium', { skip: skipWithoutChromium, timeout: 300_000 }, () => {
  let browser: Browser
  let server: Awaited<ReturnType<typeof startTestServer>>
  let served: { html: string; csp?: string } = { html: '' }

  before(async () => {
    browser = await startTestBrowser()
    server = await startTestServer((req, res) => {
      if (req.url?.startsWith('/v1/media/art_1')) return void res.setHeader('content-type', 'image/svg+xml').end(PICTURE)
      if (req.url === '/favicon.ico') return void res.writeHead(404).end()
      if (served.csp !== undefined) res.setHeader('content-security-policy', served.csp)
      res.setHeader('content-type', 'text/html; charset=utf-8').end(served.html)
    })
  })

  after(async () => {
    await browser?.close()
    server?.stop()
  })

  function inputWith(changes: Partial<SharePageInput>): SharePageInput {
    return {
      id: 'col_1',
      metadata: { share_title: 'The last evening', share_description: 'One.\n\nTwo,\nthree.' },
      state: 'closed',
      hero: { kind: 'image', url: '/v1/media/art_1', title: 'Dusk', alt: 'A red bay', width: 1200, height: 630 },
      publicUrl: server.origin,
      pageUrl: `${server.origin}${PAGE_PATH}`,
      oembedUrl: `${server.origin}/oembed`,
      ...changes,
    }
  }

  function render(changes: Partial<SharePageInput> = {}): RenderedPage {
    return renderSharePage(inputWith(changes), sha256Base64)
  }

  async function startVisitor(
    options: BrowserContextOptions = {},
  ): Promise<{ visit: (page: { html: string; csp?: string }) => Promise<Visit> }> {
    const context = await browser.newContext(options)
    const seen = { ran: 0, violations: [] as string[], foreign: [] as string[] }
    await context.exposeFunction('canary', () => void (seen.ran += 1))
    await context.exposeFunction('reportViolation', (what: string) => void seen.violations.push(what))
    // Runs in the page before any of its code, outside its policy.
    await context.addInitScript(
      "document.addEventListener('securitypolicyviolation', (e) => reportViolation(e.violatedDirective + ' ' + e.blockedURI))",
    )
    await context.route('**/*', (route) => {
      const url = route.request().url()
      if (url.startsWith(`${server.origin}/`)) return route.continue()
      if (!url.startsWith('https://cdn.example/')) seen.foreign.push(url)
      return url.startsWith('https://cdn.example/')
        ? route.fulfill({ contentType: 'image/svg+xml', body: PICTURE })
        : route.abort()
    })
    const page = await context.newPage()
    page.on('dialog', (dialog) => {
      seen.ran += 1
      void dialog.dismiss()
    })
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to|TrustedHTML/i.test(message.text())) seen.violations.push(message.text())
    })
    const visit = async (content: { html: string; csp?: string }): Promise<Visit> => {
      Object.assign(seen, { ran: 0, violations: [], foreign: [] })
      served = content
      await page.goto(`${server.origin}${PAGE_PATH}`, { waitUntil: 'load' })
      const elements = await page.evaluate<string[]>("[...new Set([...document.querySelectorAll('*')].map((e) => e.localName))]")
      const handlers = await page.evaluate<string[]>(
        "[...document.querySelectorAll('*')].flatMap((e) => e.getAttributeNames().filter((n) => /^on|^style$|^srcdoc$|^http-equiv$/.test(n) || /^(href|src|action|formaction|data|poster|xlink:href)$/.test(n) && !/^https?:/.test(e.getAttribute(n))))",
      )
      return { page, ...seen, elements, handlers, close: () => context.close() }
    }
    return { visit }
  }

  function assertHarmless(visit: Visit, what: string): void {
    const { ran, violations, foreign, handlers } = visit
    const strangers = visit.elements.filter((name) => !ELEMENTS.has(name))
    assert.deepEqual(
      { ran, violations, foreign, handlers, strangers },
      { ran: 0, violations: [], foreign: [], handlers: [], strangers: [] },
      what,
    )
  }

  test('the check itself sees code that runs, a request that leaves, and a policy that is broken', async () => {
    const { visit } = await startVisitor()
    const attack = '<script>canary()</script><img src=https://evil.example/pixel.png onerror=canary()>'
    const open = await visit({ html: attack })
    assert.ok(open.ran >= 1)
    assert.deepEqual(open.foreign, ['https://evil.example/pixel.png'])
    assert.deepEqual(open.handlers, ['onerror'])
    const guarded = await visit({ html: attack, csp: render().csp })
    assert.equal(guarded.ran, 0)
    assert.ok(guarded.violations.length >= 2)
    await guarded.close()
  })

  test('hostile text in any field runs no script, sends no request and violates no policy', async () => {
    const { visit } = await startVisitor()
    let last: Visit | undefined
    for (const text of HOSTILE_TEXTS) {
      const theme = { background: text, surface: text, text, muted: text, accent: text, [text]: text }
      const hero = { kind: 'image', url: '/v1/media/art_1', title: text, alt: text, mime: text } as const
      const variants: Array<Partial<SharePageInput>> = [
        { metadata: { share_title: text, share_description: text, theme }, hero },
        {
          metadata: { share_title: 'x', share_description: `x\n\n${text}\n${text}`, theme: text },
          hero: { ...hero, kind: 'clip', mime: 'video/mp4' },
        },
        // A tenant may choose any https picture. No other request may leave the page.
        ...(text.startsWith('https:') ? [] : [{ metadata: { share_title: text }, hero: { ...hero, url: text } }]),
      ]
      for (const variant of variants) {
        last = await visit(render(variant))
        assertHarmless(last, text.slice(0, 80))
      }
    }
    await last?.close()
  })

  test('metadata of any shape makes a page', async () => {
    const { visit } = await startVisitor()
    let last: Visit | undefined
    for (const metadata of HOSTILE_METADATA) {
      last = await visit(render({ metadata }))
      assertHarmless(last, JSON.stringify(metadata))
      assert.equal(await last.page.title(), 'Dusk · Atrium')
    }
    await last?.close()
  })

  test('the frame that oEmbed hands out carries no markup of the title', async () => {
    const { visit } = await startVisitor()
    let last: Visit | undefined
    for (const text of HOSTILE_TEXTS) {
      const { html } = oembedFor(inputWith({ metadata: { share_title: text }, hero: { kind: 'image', url: '/v1/media/art_1' } }))
      last = await visit({ html: String(html).replace(/src="[^"]*"/, 'src="about:blank"') })
      assert.deepEqual([last.ran, last.foreign, last.elements], [0, [], ['html', 'head', 'body', 'iframe']], text.slice(0, 80))
    }
    await last?.close()
  })

  test('style and pictures do load under the policy: own, the hero’s host, and none', async () => {
    const { visit } = await startVisitor()
    for (const url of ['/v1/media/art_1', 'https://cdn.example/a.svg']) {
      const loaded = await visit(render({ hero: { kind: 'image', url } }))
      assertHarmless(loaded, url)
      assert.equal(await loaded.page.evaluate("document.querySelector('.hero').naturalWidth"), 1200)
      assert.equal(await loaded.page.evaluate('getComputedStyle(document.body).display'), 'flex')
    }
    for (const page of [render({ hero: undefined }), renderShareNotFound(sha256Base64)])
      assertHarmless(await visit(page), 'no hero')
  })

  test('a page framed by another site shows its picture', async () => {
    served = render()
    const { html } = oembedFor(inputWith({ hero: { kind: 'image', url: '/v1/media/art_1' } }))
    const blog = await startTestServer((_req, res) => void res.setHeader('content-type', 'text/html').end(html))
    const page = await browser.newPage()
    try {
      // A different site, not only a different origin, from the share page's 127.0.0.1.
      await page.goto(blog.origin.replace('127.0.0.1', 'localhost'), { waitUntil: 'load' })
      const hero = page.frameLocator('iframe').locator('.hero')
      await hero.waitFor()
      assert.equal(await hero.evaluate((picture) => (picture as unknown as { naturalWidth: number }).naturalWidth), 1200)
    } finally {
      await page.close()
      blog.stop()
    }
  })

  test('the layout does not shift when the picture loads', async () => {
    for (const viewport of [
      { width: 390, height: 844 },
      { width: 1280, height: 800 },
    ]) {
      for (const [width, height] of [
        [1200, 630],
        [900, 1200],
        [300, 200],
      ] as const) {
        const { visit } = await startVisitor({ viewport })
        const hero = { kind: 'image', url: '/v1/media/art_1', width, height } as const
        const top = "JSON.stringify(document.querySelector('h1').getBoundingClientRect())"
        const here = await (await visit(render({ hero }))).page.evaluate(top)
        const gone = await visit(render({ hero: { ...hero, url: '/v1/media/never' } }))
        assert.equal(await gone.page.evaluate(top), here, `${width}×${height} at ${viewport.width}`)
        await gone.close()
      }
    }
  })

  test('the browser loads a picture that is as large as it shows it, and not the original', async () => {
    const hero = { kind: 'image', url: '/v1/media/art_1', mime: 'image/png', width: 3_000, height: 2_000 } as const
    for (const [viewport, deviceScaleFactor, loaded] of [
      [{ width: 390, height: 844 }, 1, '?w=640'],
      [{ width: 390, height: 844 }, 3, '?w=1280'],
      [{ width: 1_440, height: 900 }, 1, '?w=1280'],
      [{ width: 1_440, height: 900 }, 2, '?w=1920'],
    ] as const) {
      const { visit } = await startVisitor({ viewport, deviceScaleFactor })
      const seen = await visit(render({ hero }))
      assertHarmless(seen, loaded)
      const source = await seen.page.evaluate("new URL(document.querySelector('.hero').currentSrc).search")
      assert.equal(source, loaded, `${viewport.width} at ${deviceScaleFactor}`)
      await seen.close()
    }
  })

  test('nothing runs over the edge of a small phone', async () => {
    const { visit } = await startVisitor({ viewport: { width: 320, height: 640 } })
    const word = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'
    const pages = [
      render({ metadata: { share_title: word, share_description: word.repeat(5) } }),
      render({ hero: { kind: 'image', url: '/v1/media/art_1', title: word } }),
      render({ hero: undefined, metadata: { share_title: word, theme: 'paper' } }),
      render({ hero: { kind: 'clip', url: '/v1/media/art_1', mime: 'video/mp4' } }),
      renderShareNotFound(sha256Base64),
    ]
    for (const page of pages) {
      const width = await (await visit(page)).page.evaluate('document.documentElement.scrollWidth')
      assert.equal(width, 320)
    }
  })

  test('axe finds no violation, in light, dark, every theme and both directions', async () => {
    const themes = [
      undefined,
      'light',
      'dark',
      'paper',
      'neon',
      { background: 'oklch(0.93 0.05 150)', accent: 'darkgreen' },
      { background: '#777', text: '#888' },
    ]
    const titles = ['The last evening', 'المساء الأخير', 'ערב אחרון', '最後の夕べ']
    const metadatas = [
      ...themes.map((theme) => ({ share_title: titles[0], share_description: 'One.\n\nTwo.', theme })),
      ...titles.map((share_title) => ({ share_title, share_description: share_title })),
    ]
    const pages = metadatas.flatMap((metadata) => [
      render({ metadata }),
      render({ metadata, hero: undefined }),
      render({ metadata, hero: { kind: 'clip', url: '/v1/media/art_1', mime: 'video/mp4' } }),
    ])
    for (const colorScheme of ['light', 'dark'] as const) {
      const { visit } = await startVisitor({ colorScheme })
      for (const [index, content] of [...pages, renderShareNotFound(sha256Base64)].entries()) {
        const { page } = await visit(content)
        await assertAccessible(page, `${colorScheme} ${JSON.stringify(metadatas[Math.floor(index / 3)] ?? 'not found')}`)
      }
    }
  })

  test('the keyboard reaches the only link, and sees that it did', async () => {
    const { visit } = await startVisitor()
    const { page, close } = await visit(render())
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.localName'), 'a')
    assert.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid')
    await close()
  })

  test('our reading of a colour is the browser’s', async () => {
    const { visit } = await startVisitor()
    const { page, close } = await visit({ html: '<canvas width=1 height=1>' })
    const colours = [
      'rebeccapurple',
      '#0af',
      '#12345678',
      'rgb(1 2 3)',
      'rgb(10%, 20%, 30%)',
      'rgb(300 -5 12.6)',
      'hsl(200 50% 40%)',
      'hsl(-40, 120%, 30%)',
      'hsl(1rad 20 70)',
      'hsl(400grad 20 70)',
      'hsl(none 20% 70%)',
      'oklch(0.7 0.1 30)',
      'oklch(70% 25% 250deg)',
      'oklch(0.93 0.05 150)',
      'oklch(0.2 0.04 300)',
    ]
    for (const colour of colours) {
      const ours = parseColour(colour)
      assert.ok(ours, colour)
      const theirs = await page.evaluate<number[]>(
        `(() => { const c = document.querySelector('canvas').getContext('2d'); c.fillStyle = '#123'; c.fillStyle = ${JSON.stringify(colour)};
          c.clearRect(0, 0, 1, 1); c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; })()`,
      )
      // Allows one step of rounding, and more where the canvas stores translucent colours premultiplied.
      const slack = ours.alpha < 1 ? 3 : 1
      for (const [index, channel] of ours.colour.entries()) {
        assert.ok(
          Math.abs(channel - (theirs[index] ?? NaN)) <= slack,
          `${colour}: ${toHex(ours.colour)} against ${theirs.join(' ')}`,
        )
      }
    }
    await close()
  })
})
