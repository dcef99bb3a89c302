import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { AtriumClient } from '../packages/client/src/call.ts'
import { createClient } from '../packages/client/src/create-client.ts'
import { paginate } from '../packages/client/src/paginate.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { skipWithoutChromium, startTestBrowser, startTestServer } from '../packages/web/src/testing/start-test-browser.ts'
import { adminToken, freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { runDemo } from './support/run-demo.ts'
import { openWatched } from './support/watched-page.ts'

const title = 'Lantern night <b>&</b> “tea”'
const words = ['Happy birthday, old lighthouse!', '灯りの船が橋をくぐった', 'أتمنى أن يبقى هذا الباب مفتوحًا', '📚🏮🌙']

interface App {
  /** With the secret key, as on the app's server. */
  owner: AtriumClient
  /** With the publishable key, as its page has it. */
  people: AtriumClient
  secretKey: string
  publishableKey: string
}

interface Wall {
  id: string
  ownerToken: string
  contributorToken: string
  shareUrl: string
}

// With the limits of a real installation.
const limited = { ATRIUM_RATE_LIMIT: '1' }

/** An installation that runs already, with `adminToken`: `npm run test:image` names one. */
const running = process.env['ATRIUM_TEST_ORIGIN']

describe('the main job', { timeout: 120_000 }, () => {
  let database: TestDatabase | undefined
  let atrium: Pick<AtriumProcess, 'origin'> & Partial<AtriumProcess>
  let app: App
  let anyone: AtriumClient

  before(async () => {
    if (running === undefined) database = await createTestDatabase()
    atrium = database ? await startAtrium({ databaseUrl: database.url, env: limited, space: true }) : { origin: running! }
    anyone = createClient({ baseUrl: atrium.origin })
    app = await signUp()
  })

  after(async () => {
    await atrium?.end?.()
    await database?.drop()
  })

  async function signUp(): Promise<App> {
    const { data: invite } = await createClient({ baseUrl: atrium.origin, adminToken }).createInvite()
    const body = { invite_code: invite.invite_code, name: 'Harbour Wall', email: 'ada@harbour.example' }
    const { data } = await anyone.signUpTenant({ body })
    await assert.rejects(anyone.signUpTenant({ body }), { code: 'invite_invalid' })
    const clientWith = (key: string) => createClient({ baseUrl: atrium.origin, key })
    return {
      owner: clientWith(data.secret_key),
      people: clientWith(data.publishable_key),
      secretKey: data.secret_key,
      publishableKey: data.publishable_key,
    }
  }

  async function makeWall(metadata: Record<string, unknown> = { share_title: title }): Promise<Wall> {
    const { data } = await app.owner.createCollection({ body: { metadata, contributor_policy: 'token' } })
    assert.ok(data.contributor_token)
    const shareUrl = `${atrium.origin}/v1/collections/${data.id}/render`
    return { id: data.id, ownerToken: data.admin_token, contributorToken: data.contributor_token, shareUrl }
  }

  async function addWords({ id, contributorToken }: Wall): Promise<string[]> {
    const ids: string[] = []
    for (const text of words) {
      const body = { type: 'message', content: { text }, author: 'Ada' }
      const { data } = await app.people.addItem({ id, collectionToken: contributorToken, body, idempotencyKey: randomUUID() })
      ids.push(data.id!)
    }
    return ids
  }

  async function addPicture({ id, ownerToken: collectionToken }: Wall, name: string, flags?: { published?: true; hero: true }) {
    const url = `${atrium.origin}/examples/event-wall/${name}.webp`
    const { data } = await app.owner.createArtifact({ id, collectionToken, body: { kind: 'image', url, title: name, alt: name } })
    if (flags) await app.owner.curateArtifact({ id, artifactId: data.id, collectionToken, body: flags })
    return data.id
  }

  test('people add, the owner lists every page, curates and publishes, and the state moves forward only', async () => {
    const wall = await makeWall()
    const { id, ownerToken: collectionToken } = wall
    await assert.rejects(app.people.addItem({ id, body: { type: 'message', content: 1 } }), {
      code: 'contributor_token_required',
    })
    const ids = await addWords(wall)
    await assert.rejects(app.people.listItems({ id, collectionToken: wall.contributorToken }), { code: 'owner_token_required' })

    await app.owner.curateItem({ id, itemId: ids[0]!, collectionToken, body: { archived: true } })
    await app.owner.curateItem({ id, itemId: ids[1]!, collectionToken, body: { approved: false } })
    await app.owner.curateItem({ id, itemId: ids[2]!, collectionToken, body: { hero: true } })
    await app.owner.curateItem({ id, itemId: ids[3]!, collectionToken, body: { hero: true } })
    const listed = []
    for await (const item of paginate(app.owner.listItems, { id, collectionToken, query: { limit: 3 } })) listed.push(item)
    assert.deepEqual(
      listed.map(({ id, content, approved, archived, hero }) => ({ id, content, approved, archived, hero })),
      words.map((text, n) => ({ id: ids[n], content: { text }, approved: n !== 1, archived: n === 0, hero: n === 3 })),
    )
    assert.equal((await app.people.getCollection({ id })).data.item_count, 2)

    await addPicture(wall, 'window-seat')
    const first = await addPicture(wall, 'reading-room', { published: true, hero: true })
    const second = await addPicture(wall, 'quay-at-night', { published: true, hero: true })
    const { data: seen } = await app.people.listArtifacts({ id })
    assert.deepEqual(
      seen.map(({ id, hero, title, alt }) => ({ id, hero, title, alt })),
      [
        { id: first, hero: false, title: 'reading-room', alt: 'reading-room' },
        { id: second, hero: true, title: 'quay-at-night', alt: 'quay-at-night' },
      ],
    )

    await app.owner.setCollectionState({ id, collectionToken, body: { state: 'ready' } })
    await assert.rejects(app.owner.setCollectionState({ id, collectionToken, body: { state: 'open' } }), {
      code: 'state_conflict',
    })
    await assert.rejects(addWords(wall), { code: 'collection_not_open' })
  })

  test('a deleted collection is gone for everyone, its share page too', async () => {
    const wall = await makeWall()
    const { status } = await app.owner.deleteCollection({ id: wall.id, collectionToken: wall.ownerToken })
    assert.equal(status, 204)
    await assert.rejects(app.people.getCollection({ id: wall.id }), { code: 'not_found' })
    assert.equal((await fetch(wall.shareUrl)).status, 404)
  })

  test('a preflight allows what an app’s page sends, from any origin and never with credentials', async () => {
    const res = await fetch(`${atrium.origin}/v1/collections/col_4fRzK0vXcB1mQwErTy7uPa/items`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,idempotency-key,x-collection-token',
      },
    })
    assert.equal(res.status, 204)
    assert.equal(res.headers.get('access-control-allow-origin'), '*')
    assert.equal(res.headers.get('access-control-allow-credentials'), null)
    assert.match(res.headers.get('access-control-allow-methods') ?? '', /\bPOST\b/)
    const allowed = (res.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(/\s*,\s*/)
    for (const name of ['authorization', 'content-type', 'idempotency-key', 'x-collection-token'])
      assert.ok(allowed.includes(name), name)
  })

  describe('in Chromium', { skip: skipWithoutChromium }, () => {
    let browser: Browser
    let appSite: Awaited<ReturnType<typeof startTestServer>>

    before(async () => {
      browser = await startTestBrowser()
      appSite = await startTestServer((_req, res) => void res.setHeader('content-type', 'text/html').end('<title>An app</title>'))
    })

    after(async () => {
      await browser?.close()
      appSite?.stop()
    })

    /** Makes the call with the page's own fetch, so that the browser's rules for other origins apply. */
    async function callFromPage(page: Page, wall: Wall, key: string, idempotencyKey: string) {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-collection-token': wall.contributorToken,
        'idempotency-key': idempotencyKey,
      }
      const body = JSON.stringify({ type: 'message', content: { text: words[1] } })
      return page.evaluate(
        async ({ url, headers, body }) => {
          const res = await fetch(url, { method: 'POST', headers, body })
          const answer = (await res.json()) as { data?: { id: string }; error?: { code: string; request_id: string } }
          return { status: res.status, headers: Object.fromEntries(res.headers), ...answer }
        },
        { url: `${atrium.origin}/v1/collections/${wall.id}/items`, headers, body },
      )
    }

    test('a page of another origin adds an item once, however often it sends it, and reads the headers', async () => {
      const wall = await makeWall()
      const page = await browser.newPage()
      await page.goto(appSite.origin)
      const idempotencyKey = randomUUID()
      const first = await callFromPage(page, wall, app.publishableKey, idempotencyKey)
      const second = await callFromPage(page, wall, app.publishableKey, idempotencyKey)
      assert.deepEqual([first.status, first.headers['idempotency-status']], [201, 'stored'])
      assert.deepEqual([second.status, second.headers['idempotency-status']], [201, 'replayed'])
      assert.deepEqual(second.data, first.data)
      assert.match(first.headers['x-request-id'] ?? '', /^req_/)
      assert.match(first.headers['ratelimit-policy'] ?? '', /publishable-key/)
      assert.ok(first.headers['ratelimit'])
      const { data } = await app.owner.listItems({ id: wall.id, collectionToken: wall.ownerToken })
      assert.deepEqual(
        data.items.map(({ id, content }) => ({ id, content })),
        [{ id: first.data?.id, content: { text: words[1] } }],
      )
      await page.close()
    })

    test('a secret key in a page is refused, and the page can read why', async () => {
      const wall = await makeWall()
      const page = await browser.newPage()
      await page.goto(appSite.origin)
      const answer = await callFromPage(page, wall, app.secretKey, randomUUID())
      assert.deepEqual([answer.status, answer.error?.code], [401, 'secret_key_in_browser'])
      assert.equal(answer.error?.request_id, answer.headers['x-request-id'])
      await page.close()
    })

    test('the watch detects a policy violation, a request to another origin and a failed request', async () => {
      const site = await startTestServer((_req, res) => {
        res.setHeader('content-security-policy', "default-src 'none'; img-src *")
        res.setHeader('content-type', 'text/html').end('<script>1</script><img src="http://127.0.0.1:1/pixel.png">')
      })
      const { problems } = await openWatched(browser, site.origin)
      site.stop()
      for (const kind of ['policy', 'foreign', 'failed'])
        assert.ok(
          problems.some((problem) => problem.startsWith(kind)),
          kind,
        )
    })

    test('the share page shows the title and the published hero, nothing of the items, and keeps its policy', async () => {
      const wall = await makeWall()
      await addWords(wall)
      await addPicture(wall, 'window-seat', { hero: true })
      assert.doesNotMatch(await (await fetch(wall.shareUrl)).text(), /window-seat/)
      await addPicture(wall, 'quay-at-night', { published: true, hero: true })
      const { page, problems, status } = await openWatched(browser, wall.shareUrl)
      assert.equal(status, 200)
      assert.equal(await page.locator('h1').textContent(), title)
      const html = await page.content()
      for (const text of [...words, 'window-seat']) assert.ok(!html.includes(text), text)
      const hero = page.getByRole('img', { name: 'quay-at-night' })
      assert.equal(await hero.evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth), 1600)
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('the share page fits a phone', async () => {
      const wall = await makeWall()
      await addPicture(wall, 'quay-at-night', { published: true, hero: true })
      for (const width of [320, 390]) {
        const { page, problems } = await openWatched(browser, wall.shareUrl, { viewport: { width, height: 844 }, isMobile: true })
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
        const box = await page.getByRole('img', { name: 'quay-at-night' }).boundingBox()
        assert.ok(box && box.x >= 0 && box.x + box.width <= width && box.width > width * 0.75, JSON.stringify(box))
        assert.deepEqual(problems, [])
        await page.context().close()
      }
    })

    test('the share page follows the visitor’s dark mode when no theme is set', async () => {
      const { shareUrl } = await makeWall()
      const coloursIn = async (colorScheme: 'light' | 'dark') => {
        const { page } = await openWatched(browser, shareUrl, { colorScheme })
        const style = 'getComputedStyle(document.documentElement)'
        const colours = await page.evaluate<string[]>(`[${style}.backgroundColor, ${style}.color]`)
        await page.context().close()
        return colours
      }
      assert.deepEqual(await coloursIn('light'), ['rgb(250, 246, 238)', 'rgb(43, 36, 27)'])
      assert.deepEqual(await coloursIn('dark'), ['rgb(23, 19, 16)', 'rgb(242, 234, 223)'])
    })

    test('a link to an unknown collection opens a page with that message', async () => {
      const { page, problems, status } = await openWatched(
        browser,
        `${atrium.origin}/v1/collections/col_4fRzK0vXcB1mQwErTy7uPa/render`,
      )
      assert.equal(status, 404)
      assert.equal(await page.locator('h1').textContent(), 'There is nothing at this address')
      assert.deepEqual(problems, [])
      await page.context().close()
    })

    test('so does a link that lost its last character', async () => {
      const { page, status } = await openWatched(browser, `${atrium.origin}/v1/collections/col_4fRzK0vXcB1mQwErTy7uP/render`)
      assert.equal(status, 404)
      assert.equal(await page.title(), 'Nothing here · Atrium')
      await page.context().close()
    })

    test('the demo’s share page opens from its link', async () => {
      const { stdout } = await runDemo(atrium.origin)
      const { page, problems, status } = await openWatched(browser, linkIn(stdout))
      assert.equal(status, 200)
      assert.equal(await page.locator('h1').textContent(), 'The Long Night of Alder Quay')
      await page.locator('img.hero').waitFor()
      assert.deepEqual(problems, [])
      await page.context().close()
    })
  })

  test('the demo plays twice and leaves two walls, each with a link, an owner token and a way to delete it', async () => {
    const runs = [await runDemo(atrium.origin), await runDemo(atrium.origin)]
    for (const { code, stdout, stderr } of runs) {
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout)
      const page = await fetch(linkIn(stdout))
      assert.equal(page.status, 200)
      assert.match(await page.text(), /The Long Night of Alder Quay/)
      assert.match(stdout, /59 items from/)
      assert.match(stdout, /由紀: 灯りの船が橋をくぐった瞬間/)
      const [, room, mk] = /\/space#(quay-\w+)\.([\w-]{43})$/m.exec(stdout) ?? []
      const said = await fetch(`${atrium.origin}/v1/space`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ op: 'poll', room, mk }),
      })
      assert.equal(((await said.json()) as { title: string }).title, 'An evening on the quay')
      const [, url, key, token] =
        /curl -i -X DELETE (\S+) [\s\S]*Bearer (wpk_\w+)[\s\S]*X-Collection-Token: (cat_\w+)/.exec(stdout) ?? []
      const gone = await fetch(url!, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${key}`, 'x-collection-token': token! },
      })
      assert.equal(gone.status, 204)
      assert.equal((await fetch(linkIn(stdout))).status, 404)
    }
    assert.notEqual(linkIn(runs[0]!.stdout), linkIn(runs[1]!.stdout))
  })

  test('without a server the demo prints the reason in one line', async () => {
    const origin = `http://localhost:${await freePort()}`
    const { code, stdout, stderr } = await runDemo(origin)
    assert.deepEqual(
      { code, stdout, stderr },
      {
        code: 1,
        stdout: '',
        stderr: `demo: nothing answers at ${origin}: run npm start first (ATRIUM_PUBLIC_URL or PORT say where it is)\n`,
      },
    )
  })
})

function linkIn(output: string): string {
  const link = /^ {2}(http\S+\/render)$/m.exec(output)?.[1]
  assert.ok(link, `no link in:\n${output}`)
  return link
}
