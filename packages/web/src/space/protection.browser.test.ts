import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { certificateEntry, epochEntry } from '@atrium/log/check-log'
import type { Browser, Page } from 'playwright-core'
import { skipWithoutChromium, startTestBrowser } from '../testing/start-test-browser.ts'
import type { StubLog } from './testing/stub-log.ts'
import { startSpace, type TestSpace } from './testing/start-space.ts'
import { assertNoTrouble, makeRoom, newVisitor, write } from './testing/visitor.ts'

describe('what protects this room', { skip: skipWithoutChromium, timeout: 180_000 }, () => {
  let browser: Browser
  let space: TestSpace

  before(async () => {
    ;[browser, space] = await Promise.all([startTestBrowser(), startSpace()])
  })

  after(async () => {
    await browser?.close()
    await space?.stop()
  })

  /** As if what was missing had been missing for two minutes. */
  function ageMissing(): void {
    const key = 'atrium.space.log-missing'
    const kept = JSON.parse(localStorage.getItem(key) ?? '{}') as Record<string, { since: number }[]>
    for (const one of Object.values(kept).flat()) one.since -= 120_000
    localStorage.setItem(key, JSON.stringify(kept))
  }

  async function runChecks(page: Page): Promise<Record<string, string>> {
    await page.getByRole('button', { name: 'Protection', exact: true }).click()
    await page.getByRole('button', { name: 'Check again' }).waitFor()
    return readChecks(page)
  }

  async function checkAgain(page: Page): Promise<Record<string, string>> {
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.getByRole('button', { name: 'Check again' }).waitFor()
    return readChecks(page)
  }

  async function readChecks(page: Page): Promise<Record<string, string>> {
    const found = await page
      .locator('.check')
      .evaluateAll((items) => items.map((item) => [item.getAttribute('data-check'), item.className.replace('check ', '')]))
    return Object.fromEntries(found) as Record<string, string>
  }

  test('all is proved that a browser can prove, and what must be believed is said', async () => {
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    await write(ann.page, 'Something to be sealed')
    await ann.page.locator('.message').waitFor()
    const firstTime = { 'log-history': 'trusted', 'log-witnesses': 'trusted' }
    const trusted = { running: 'trusted', memory: 'trusted', page: 'trusted', ...(space.api ? firstTime : { log: 'unknown' }) }
    const proved = Object.fromEntries(
      [
        'bytes',
        'recipients',
        'opens',
        'chain',
        'shown',
        'certificate',
        'pin',
        'source',
        'attest',
        ...(space.api ? ['log-entries'] : []),
      ].map((id) => [id, 'proved']),
    )
    assert.deepEqual(await runChecks(ann.page), { ...proved, ...trusted })
    // The stored bytes are fetched without the key and opened here.
    assert.ok(ann.sent.every(({ body }) => !body.includes('"op":"sealed"') || !body.includes('"mk"')))
    assertNoTrouble(ann)
    await ann.close()
  })

  test('one altered letter of what is stored is noticed, and history that no longer leads to what was shown, too', async (t) => {
    if (!space.tamper) return t.skip('nobody here can alter what is stored')
    const ann = await newVisitor(browser)
    const { room } = await makeRoom(ann.page, space)
    await write(ann.page, 'One')
    await write(ann.page, 'Two')
    await ann.page.locator('.message', { hasText: 'Two' }).waitFor()
    await space.tamper(room)
    const { opens, chain, recipients } = await runChecks(ann.page)
    assert.deepEqual({ opens, chain, recipients }, { opens: 'failed', chain: 'failed', recipients: 'proved' })
    assert.match((await ann.page.locator('.summary').textContent()) ?? '', /checks failed/)
    await ann.close()
  })

  test('a service that comes back with another key is met with a warning, until one says that it is expected', async (t) => {
    if (!space.changeKey) return t.skip('the key of this service does not change')
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    await ann.page.waitForFunction(() => localStorage.getItem('atrium.space.pin') !== null)
    space.changeKey()
    await ann.page.reload()
    await ann.page.getByRole('alert').getByText('is not the one that this browser knew').waitFor()
    await ann.page.getByRole('button', { name: 'What protects this room' }).click()
    await ann.page.getByRole('button', { name: 'Check again' }).waitFor()
    assert.equal(await ann.page.locator('[data-check=pin]').getAttribute('class'), 'check failed')
    await ann.page.getByRole('button', { name: 'I know why' }).click()
    await ann.page.locator('[data-check=pin].proved').waitFor()
    await ann.close()
  })

  /** The checks of the log, in a browser that has seen it before. */
  async function visit(between: (log: StubLog) => void, t: { skip: (why: string) => void }, afterwards?: (log: StubLog) => void) {
    if (!space.api) return t.skip('this service has no log that can change')
    const { log } = space.api
    // Another test may have changed the key.
    log.append(certificateEntry(await (await fetch(`${space.origin}/cert.json`)).json()))
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    assert.equal((await runChecks(ann.page))['log-history'], 'trusted')
    between(log)
    await checkAgain(ann.page)
    if (afterwards) {
      afterwards(log)
      await ann.page.evaluate(ageMissing)
      await checkAgain(ann.page)
    }
    const checks = Object.entries(await readChecks(ann.page)).filter(([id]) => id.startsWith('log'))
    const texts = await ann.page.locator('[data-check^=log] .check-title').allTextContents()
    await ann.close()
    return { checks: Object.fromEntries(checks), texts: texts.join('\n') }
  }

  test('a log that grew continues what this browser saw, and witnesses are named', async (t) => {
    const seen = await visit((log) => {
      log.append({ type: 'agent_card', sha256: '1' }, { type: 'agent_card', sha256: '2' })
      log.witnessed(true)
    }, t)
    if (!seen) return
    assert.deepEqual(seen.checks, { 'log-history': 'proved', 'log-entries': 'proved', 'log-witnesses': 'proved' })
    const not = await visit((log) => log.witnessed(false), t)
    assert.deepEqual(not?.checks, { 'log-history': 'proved', 'log-entries': 'proved', 'log-witnesses': 'unknown' })
    assert.match(not?.texts ?? '', /The public log is not witnessed/)
  })

  test('a log that cannot be reached is said, and fails nothing', async (t) => {
    const seen = await visit((log) => log.setReachable(false), t)
    space.api?.log.setReachable(true)
    if (seen) assert.deepEqual(seen, { checks: { log: 'unknown' }, texts: 'The public log could not be reached' })
  })

  test('what is new is not in the log yet, and is named after two minutes', async (t) => {
    const offered = { ...space.api?.log.epochs[0], epoch: 'epo_2' }
    const offer = (log: StubLog) => void log.epochs.push(offered)
    const seen = await visit(offer, t)
    if (!seen) return
    assert.equal(seen.checks['log-entries'], 'unknown')
    assert.match(seen.texts, /does not have this yet/)
    const logged = await visit(
      () => undefined,
      t,
      (log) => log.append(epochEntry(offered)),
    )
    assert.equal(logged?.checks['log-entries'], 'proved')
    const later = await visit(
      (log) => log.epochs.splice(1, 1, { ...offered, value: 6 }),
      t,
      () => undefined,
    )
    assert.equal(later?.checks['log-entries'], 'failed')
    assert.match(later?.texts ?? '', /does not have what you are shown/)
    space.api?.log.epochs.splice(1, 1)
    // Another one at each look does not help.
    const other = await visit(
      () => space.changeKey?.(),
      t,
      () => space.changeKey?.(),
    )
    assert.equal(other?.checks['log-entries'], 'failed')
  })

  test('the list of keys of blind tokens is read to its end, and those that are not compared with the log are counted', async (t) => {
    if (!space.api) return t.skip('this service has no log')
    const { log } = space.api
    const more = Array.from({ length: 449 }, (_, i) => ({ ...log.epochs[0], epoch: `epo_more_${i + 2}` }))
    log.epochs.push(...more)
    t.after(() => log.epochs.splice(1, more.length))
    log.append(certificateEntry(await (await fetch(`${space.origin}/cert.json`)).json()), ...more.map(epochEntry))
    const ann = await newVisitor(browser)
    await makeRoom(ann.page, space)
    assert.equal((await runChecks(ann.page))['log-entries'], 'proved')
    const text = await ann.page.locator('[data-check=log-entries]').textContent()
    assert.match(text ?? '', /40 keys of blind tokens, as everyone else sees them\. 410 older keys were not compared\./)
    await ann.close()
    const other = await visit(
      () => (log.epochs[429] = { ...log.epochs[429], value: 6 }),
      t,
      () => undefined,
    )
    assert.equal(other?.checks['log-entries'], 'failed')
    assert.match(other?.texts ?? '', /does not have what you are shown/)
  })

  test('a list of keys of blind tokens that does not end is not read for ever, and is not proved', async (t) => {
    if (!space.api) return t.skip('this service has no log')
    const { log } = space.api
    t.after(() => log.endEpochsWith('end'))
    const ann = await newVisitor(browser)
    // 20 seconds are too long for a test.
    await ann.page.addInitScript(() => {
      const { timeout } = AbortSignal
      AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms === 20_000 ? 2_000 : ms)
    })
    await makeRoom(ann.page, space)
    for (const [what, verdict] of [
      ['same page', 'failed'],
      ['more pages', 'unknown'],
      ['silence', 'unknown'],
    ] as const) {
      log.endEpochsWith(what)
      await ann.page.reload()
      assert.equal((await runChecks(ann.page))['log-entries'], verdict, what)
      const text = await ann.page.locator('[data-check=log-entries]').textContent()
      assert.match(text ?? '', /The keys of blind tokens were not all compared/)
    }
    await ann.close()
  })

  /** What the service does not answer, the time limit for it, and what is not checked then. */
  const silences = [
    { url: '/cert.json', limitMs: 15_000, check: 'build', text: 'build, source and public log are not checked now' },
    { url: '/source.tar.gz', limitMs: 60_000, check: 'source', text: 'The source could not be fetched' },
    { url: '/space', limitMs: 30_000, check: 'log-entries', text: 'What you are shown was not compared with the public log' },
    { url: '/space', method: 'POST', limitMs: 20_000, check: 'attest', text: 'holds that key, and names the same build, is not' },
  ]
  for (const { url, method = 'GET', limitMs, check, text } of silences)
    test(`a service that does not answer ${method} ${url} is not waited for without end`, async (t) => {
      if (check === 'log-entries' && !space.api) return t.skip('this service has no log')
      const ann = await newVisitor(browser)
      await makeRoom(ann.page, space)
      // Only this one is too long for a test.
      await ann.page.evaluate((limitMs) => {
        const { timeout } = AbortSignal
        AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms === limitMs ? 1_000 : ms)
      }, limitMs)
      await ann.page.route(`${space.origin}${url}`, async (route) => {
        const isSilent =
          route.request().method() === method && (method === 'GET' || route.request().postData()?.includes('"attest"'))
        if (!isSilent) await route.fallback()
      })
      const checks = await runChecks(ann.page)
      assert.equal(checks[check], 'unknown')
      await ann.page.locator(`[data-check=${check}]`, { hasText: text }).waitFor()
      if (check !== 'build') assert.equal(checks['certificate'], 'proved')
      await ann.page.unrouteAll({ behavior: 'ignoreErrors' })
      await ann.close()
    })

  test('a log that was rolled back, and one that forked, are named, also at the next visit', async (t) => {
    const back = await visit((log) => log.rollBack(1), t)
    if (!back) return
    assert.deepEqual(back, { checks: { 'log-history': 'failed' }, texts: 'The public log was rolled back' })
    const fork = await visit((log) => log.fork(), t)
    assert.deepEqual(fork, { checks: { 'log-history': 'failed' }, texts: 'The public log was rewritten' })
  })

  test('two tabs that check the log at once pass, and the newest head that one of them has seen is remembered', async (t) => {
    if (!space.api) return t.skip('this service has no log that can change')
    const { log, origin } = space.api
    const ann = await newVisitor(browser)
    const { page } = ann
    const { link } = await makeRoom(page, space)
    const other = await ann.context.newPage()
    await other.goto(link)
    /** While the first tab reads the head, the log changes, and the other tab checks it. */
    const meanwhile = (change: () => void, check: typeof runChecks, verdict: string) =>
      page.route(
        `${origin}/log/checkpoint`,
        async (route) => {
          const response = await route.fetch()
          change()
          assert.equal((await check(other))['log-history'], verdict)
          await route.fulfill({ response })
        },
        { times: 1 },
      )
    const title = () => page.locator('[data-check=log-history] .check-title').textContent()
    // The other tab is shown another log.
    await meanwhile(() => log.fork(), runChecks, 'trusted')
    assert.equal((await runChecks(page))['log-history'], 'failed')
    assert.equal(await title(), 'The public log was rewritten')
    await meanwhile(() => log.append({ type: 'agent_card', sha256: '3' }), checkAgain, 'proved')
    assert.equal((await checkAgain(page))['log-history'], 'proved', (await title()) ?? '')
    log.rollBack(1)
    assert.equal((await checkAgain(page))['log-history'], 'failed')
    assert.equal(await title(), 'The public log was rolled back')
    await ann.close()
  })
})
