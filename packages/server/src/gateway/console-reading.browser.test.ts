import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { auditWords } from '@atrium/contract/audit-words'
import { assertAccessible, skipWithoutChromium } from '@atrium/web/testing/start-test-browser'
import type { Locator, Request } from 'playwright-core'
import { phone, startConsoleInChromium, type ConsoleInChromium } from '#testing/console-in-chromium.ts'
import { send } from '#testing/http.ts'

describe('what the console shows', { skip: skipWithoutChromium, timeout: 120_000 }, () => {
  let world: ConsoleInChromium
  before(async () => {
    world = await startConsoleInChromium()
  })
  after(() => world?.close())

  test('an item and the pages of a collection say in words what they show', async () => {
    const { secretKey: key } = world.tenant
    const { id, token, itemIds } = await world.makeCollection(['first wish', 'second wish', 'third wish'])
    const curate = (itemId: string | undefined, body: object) =>
      send(world.api, 'PATCH', `/collections/${id}/items/${itemId}`, { key, collectionToken: token, body })
    await curate(itemIds[0], { hero: true })
    await curate(itemIds[2], { approved: false })
    const { page, problems } = await world.open(`/collections/${id}`, { expected: /ERR_FAILED/ })
    await page.route('https://pictures.example/**', (route) => route.abort())
    await page.locator('.item', { hasText: 'third wish' }).getByRole('button', { name: 'Open' }).click()
    const dialog = page.getByRole('dialog', { name: '“third wish”' })
    const facts = async (place: Locator) => (await place.locator('.facts').innerText()).replaceAll(/\s+/g, ' ')
    assert.match(
      await facts(dialog),
      /^Author Ada Type message Added .*\(.*\) State not approved Who reads it Everyone with the publishable key.* Id itm_/,
    )
    await assertAccessible(page, 'an item')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Preview' }).click()
    const [share, wall] = [page.getByRole('region', { name: 'Share page' }), page.getByRole('region', { name: 'Wall' })]
    await wall.getByText('“second wish”').waitFor()
    assert.match(await facts(wall), /^Items 2 Newest “second wish” by Ada, message, .* Hero “first wish” by Ada, message, /)
    assert.equal(await facts(share), 'Title Lantern night Description None Picture None: no published artifact is the hero')
    // What changes while the page is open changes in the words too.
    await curate(itemIds[2], { approved: true })
    await wall.getByText('“third wish”').waitFor()
    await send(world.api, 'POST', `/collections/${id}/artifacts`, {
      key,
      collectionToken: token,
      body: { kind: 'image', url: 'https://pictures.example/pier.jpg', title: 'The pier' },
    }).then(({ body }) =>
      send(world.api, 'PATCH', `/collections/${id}/artifacts/${body.data.id}`, {
        key,
        collectionToken: token,
        body: { published: true, hero: true },
      }),
    )
    await share.getByText(/^“The pier” \(linked image\), /).waitFor()
    await assertAccessible(page, 'the preview')
    assert.deepEqual(
      problems.filter((problem) => !problem.startsWith('https://pictures.example/')),
      [],
    )
    await page.context().close()
  })

  test('the preview shows new items also while they arrive without a pause', async () => {
    const { publishableKey: key } = world.tenant
    const { id } = await world.makeCollection(['first wish'])
    const { page, problems } = await world.open(`/collections/${id}/preview`)
    const wall = page.getByRole('region', { name: 'Wall' })
    await wall.getByText('“first wish”').first().waitFor()
    const isShown = async () => (await wall.getByText(/“steady wish \d+”/).count()) > 0
    for (let i = 0; !(await isShown()); i++) {
      assert.ok(i < 60, 'a new item is shown')
      await send(world.api, 'POST', `/collections/${id}/items`, { key, body: { type: 'message', content: `steady wish ${i}` } })
      await page.waitForTimeout(200)
    }
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('the overview of the operator knows of a job worker that is older than many killed processes', async () => {
    const insert = (role: string, count: number, started: string, beat: string) =>
      world.api.ctx.db.pool.query(`insert into processes (id, role, host, pid, version, node, memory_bytes, started_at, beat_at)
        select gen_random_uuid(), '${role}', 'atrium-1', i, '0.1.0', '24', 1, now() - ${started}, now() ${beat}
        from generate_series(1, ${count}) i`)
    await insert('api', 200, `i * interval '1 second'`, `- interval '1 minute'`)
    // As if it had just beaten for as long as this test takes.
    await insert('worker', 1, `interval '1 hour'`, `+ interval '25 seconds'`)
    const { page, problems } = await world.open('', { as: 'operator' })
    await page.getByText('0 API, 1 job worker').waitFor()
    await page.getByText('A process is silent: api 20 on atrium-1').waitFor()
    await page.getByText('180 other processes are silent').waitFor()
    assert.equal(await page.getByText('A process is silent: ').count(), 20)
    assert.equal(await page.getByText('No job worker runs').count(), 0)
    assert.deepEqual(problems, [])
    await page.context().close()
    await world.api.ctx.db.pool.query('delete from processes')
  })

  test('the overview is up to date while it is visible, and keeps focus, scroll and charts', async () => {
    const { secretKey: key } = world.tenant
    await world.makeCollection(['a wish'])
    const { page, problems } = await world.open('', { viewport: { width: 1_280, height: 500 }, expected: /ERR_FAILED/ })
    await page.clock.install()
    await page.reload()
    const newest = page.locator('.lines a')
    await newest.first().waitFor()
    await page.locator('.chart canvas').first().waitFor()
    await newest.first().focus()
    await page.evaluate(`document.querySelector('.chart canvas').id = 'drawn'; scrollTo(0, 400)`)
    let [asked, answered] = [0, 0]
    const isRead = (request: Request) => new URL(request.url()).pathname.startsWith('/v1/')
    const noteEnd = (request: Request) => void (answered += Number(isRead(request)))
    page.on('request', (request) => void (asked += Number(isRead(request))))
    page.on('requestfinished', noteEnd)
    page.on('requestfailed', noteEnd)
    const pass = async (seconds: number) => {
      await page.clock.runFor(seconds * 1_000)
      for (const deadline = Date.now() + 20_000; answered < asked; await delay(20))
        assert.ok(Date.now() < deadline, `${answered} of ${asked} are answered`)
    }
    const made = await send(world.api, 'POST', '/collections', {
      key,
      body: { metadata: { share_title: 'Votes for the mural' } },
    })
    await pass(31)
    await page.getByRole('link', { name: 'Votes for the mural' }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Lantern night')
    assert.equal(await page.evaluate('scrollY'), 400)
    assert.equal(await page.locator('#drawn').count(), 1, 'the charts are not made anew')

    const become = (state: 'hidden' | 'visible') =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
        document.dispatchEvent(new Event('visibilitychange'))`)
    await become('hidden')
    const before = asked
    await pass(300)
    assert.equal(asked, before, 'a hidden page asks nothing')
    await send(world.api, 'DELETE', `/collections/${made.body.data.id}`, {
      key,
      collectionToken: made.body.data.admin_token,
    })
    await become('visible')
    await page.getByRole('link', { name: 'Votes for the mural' }).waitFor({ state: 'detached' })

    await page.route('**/v1/**', (route) => route.abort())
    await pass(31)
    // The client repeats a request that got no answer.
    for (let tries = 0; (await page.locator('.failure').count()) === 0 && tries < 20; tries++) await pass(2)
    assert.equal(await page.locator('.failure').count(), 1)
    assert.ok((await newest.count()) > 0, 'what is known stays')
    await page.unroute('**/v1/**')
    await pass(62)
    await page.locator('.failure').waitFor({ state: 'detached' })
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('the usage of any dates is shown, and a range that the API would refuse has a message at its field', async () => {
    const { page, problems } = await world.open('/usage', { ...phone, colorScheme: 'dark' })
    const asked: URLSearchParams[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/v1/usage') asked.push(searchParams)
    })
    await page.getByRole('heading', { name: /^Requests, / }).waitFor()
    const shown = (await page.getByRole('heading', { name: /^Requests, / }).innerText()).match(/\d{4}-\d\d-\d\d/g)
    // What is typed before the next frame stays.
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 10_000)
    await page.getByLabel('Time').selectOption('Other dates')
    const [first, last] = [page.getByLabel('First day (UTC)'), page.getByLabel('Last day (UTC)')]
    assert.deepEqual([await first.inputValue(), await last.inputValue()], shown, 'the dates begin with those that were shown')
    await first.fill('2024-02-28')
    await last.fill('2024-03-01')
    await page.clock.resume()
    await page.getByRole('heading', { name: 'Requests, 2024-02-28 to 2024-03-01' }).waitFor()
    assert.deepEqual([asked.at(-1)?.get('from'), asked.at(-1)?.get('to')], ['2024-02-28', '2024-03-01'])
    await page.reload()
    await page.getByRole('heading', { name: 'Requests, 2024-02-28 to 2024-03-01' }).waitFor()
    const count = asked.length
    for (const [field, day, message] of [
      [last, '2024-02-27', 'The last day is before the first one, 2024-02-28.'],
      [last, '2026-01-01', 'The days may be at most 366 apart. Choose 2024-12-31 or a later day.'],
      [first, '1999-12-31', 'Choose 2000-01-01 or a later day.'],
      [first, '', 'Choose the first day.'],
    ] as const) {
      await field.fill(day)
      await page.locator('.field-error', { hasText: message }).waitFor()
      await page.getByRole('status').filter({ hasText: message }).waitFor({ state: 'attached' })
      assert.equal(await page.locator('[aria-invalid=true]').count(), 1)
    }
    assert.equal(asked.length, count, 'what the API would refuse is not asked')
    await assertAccessible(page, 'a range that is refused')
    // The limits of the page are those of the API.
    for (const [from, status] of [
      ['2024-12-31', 200],
      ['2024-12-30', 400],
    ] as const) {
      const answer = await send(world.api, 'GET', `/usage?from=${from}&to=2026-01-01`, { key: world.tenant.secretKey })
      assert.equal(answer.status, status, from)
    }
    await first.fill('2024-12-31')
    await page.getByRole('heading', { name: 'Requests, 2024-12-31 to 2026-01-01' }).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('the audit log names operations in words, and shows the name of one that the console does not know', async () => {
    const { secretKey: key } = world.tenant
    await send(world.api, 'PUT', '/tenant/keys/leaks/policy', { key, body: { action: 'notify' } })
    for (const [as, path] of [
      ['tenant', '/settings/audit-log'],
      ['operator', '/audit-log'],
    ] as const) {
      const { page, problems } = await world.open('', { as })
      await page.route('**/audit-log*', async (route) => {
        const answer = await route.fetch()
        if (!answer.headers()['content-type']?.includes('json')) return route.fulfill({ response: answer })
        const { data, ...rest } = await answer.json()
        await route.fulfill({
          response: answer,
          json: { ...rest, data: [...data, { ...data[0], id: 'aud_1', operation: 'paintKey' }] },
        })
      })
      await page.goto(`${world.api.origin}/console${path}`)
      await page.getByText('An operation that this version of the console does not know: paintKey').waitFor()
      const names = await page.locator('tbody td[data-label="Operation"] b').allInnerTexts()
      assert.ok(names.includes('Choose what happens to leaked keys') && names.includes('Sign in to the console'), `${names}`)
      const words: string[] = Object.values(auditWords)
      for (const name of names) assert.ok(words.includes(name), name)
      assert.deepEqual(problems, [])
      await page.context().close()
    }
  })

  test('a search of the log keeps a space that is typed after a pause', async () => {
    const { page, problems } = await world.open('/logs')
    const field = page.getByLabel('Request id or path')
    await field.pressSequentially('/collections ')
    await page.waitForURL(/request=/)
    await field.pressSequentially('x')
    assert.equal(await field.inputValue(), '/collections x')
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('of more keys than a page has, the valid ones are shown first, and the rest on request', async () => {
    await world.api.ctx.db.pool.query(
      `insert into api_keys (tenant_id, id, kind, name, hint, key_hash, created_at, revoked_at)
       select $1, 'key_' || n, 'secret', 'ended ' || n, 'wsk_…0000', sha256(n::text::bytea), now() - interval '2 days',
         now() - interval '1 day' - make_interval(secs => n)
       from generate_series(1, 1001) n`,
      [world.tenant.id],
    )
    const body = { kind: 'publishable', name: 'spare' }
    await send(world.api, 'POST', '/tenant/keys', { key: world.tenant.secretKey, body })
    const { page, problems } = await world.open('/keys')
    const rows = page.getByRole('table', { name: 'Keys' }).locator('tbody tr')
    await rows.nth(999).waitFor()
    assert.match(await rows.first().innerText(), /active/)
    assert.equal(await page.getByText('ended 1001', { exact: true }).count(), 0)
    await page.getByRole('button', { name: 'Load more' }).click()
    await page.getByText('ended 1001', { exact: true }).waitFor()
    const spare = rows.filter({ hasText: 'spare' })
    await spare.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await spare.getByText('revoked', { exact: true }).waitFor()
    assert.equal(await page.getByText('ended 1001', { exact: true }).count(), 1, 'the rest stays')
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('the overview names each key that is leaked or ends soon, however many keys and leaks there are', async () => {
    const { pool } = world.api.ctx.db
    await pool.query(
      `insert into api_keys (tenant_id, id, kind, name, hint, key_hash, expires_at, revoked_at)
       select $1, 'key_many_' || n, 'secret', 'many ' || n, 'wsk_…0000', sha256(('many' || n)::bytea),
         case n when 1 then now() + interval '2 days' end, case when n > 1002 then now() end
       from generate_series(1, 1060) n`,
      [world.tenant.id],
    )
    // The leak of a key that is still valid is the oldest.
    await pool.query(
      `insert into key_leaks (tenant_id, key_id, action, places, first_seen_at, last_seen_at)
       select $1, 'key_many_' || n, 'notified', '[]', now() - make_interval(days => 1100 - n), now()
       from generate_series(1002, 1060) n`,
      [world.tenant.id],
    )
    const { page, problems } = await world.open('')
    await page.getByText('The key many 1 expires within a week.', { exact: true }).waitFor()
    await page.getByText('The key many 1002 was found in public and is still valid.', { exact: true }).waitFor()
    assert.equal(await page.locator('.attention').getByText('The key').count(), 2)
    await page.locator('nav a', { hasText: 'Keys' }).first().click()
    // The page shows 1,000 keys first, which takes seconds on a busy machine.
    await page.getByRole('button', { name: 'Load more leaked keys' }).click({ timeout: 60_000 })
    await page.getByRole('article', { name: 'Leaked key many 1002', exact: true }).waitFor()
    assert.deepEqual(problems, [])
    await page.context().close()
  })

  test('Arabic keeps the order of its words, in a list and in the field where it is written', async () => {
    const { id } = await world.makeCollection(['مرحبا بكم!'])
    const { page } = await world.open(`/collections/${id}`)
    const text = page.locator('.item-text > p').first()
    await text.waitFor()
    // The mark at the end is at the left of the words.
    const leftOf = (from: number) => `(() => {
      const range = document.createRange()
      const text = document.querySelector('.item-text > p').firstChild
      range.setStart(text, ${from})
      range.setEnd(text, ${from} + 1)
      return range.getBoundingClientRect().left
    })()`
    assert.ok((await page.evaluate<number>(leftOf(9))) < (await page.evaluate<number>(leftOf(0))))
    await page.goto(`${world.api.origin}/console/collections`)
    await page.getByRole('button', { name: 'New collection' }).first().click()
    const title = page.getByRole('dialog').getByLabel('Title', { exact: true })
    await title.fill('ليلة الفوانيس!')
    assert.equal(await page.evaluate('getComputedStyle(document.activeElement).direction'), 'rtl')
    await page.context().close()
  })

  test('a time names its zone, as does the exact one of "3 min. ago"', async () => {
    const { id } = await world.makeCollection(['one'])
    const { page } = await world.open(`/collections/${id}`, { timezoneId: 'Asia/Tokyo' })
    await page.locator('.item').getByRole('button', { name: 'Open' }).click()
    const added = page.getByRole('dialog').locator('dd', { has: page.locator('time') })
    assert.match(await added.innerText(), /\d\d:\d\d:\d\d (?:GMT\+9|JST)/)
    assert.match((await added.locator('time').getAttribute('title')) ?? '', /\d\d:\d\d:\d\d (?:GMT\+9|JST)$/)
    await page.context().close()
    const overview = await world.open('', { timezoneId: 'Asia/Tokyo' })
    // Of the hours in the charts.
    await overview.page.getByText(/^Times in (?:GMT\+9|JST)$/).waitFor()
    await overview.page.context().close()
  })
})
