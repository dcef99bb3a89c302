import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventSpecs } from '../packages/contract/src/event-types.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { makeCollection, makeTenant } from './support/call-api.ts'
import { mapConcurrently } from './support/map-concurrently.ts'
import { blocksOf, guidesFolder, runGuide } from './support/run-guide.ts'
import { skipWithout } from './support/skip-without.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const skip = skipWithout('curl')

const guides = new Map(readdirSync(guidesFolder).map((file) => [file, readFileSync(join(guidesFolder, file), 'utf8')] as const))
const settings = blocksOf(guides.get('quickstart.md')!)[0]!

describe('every example of the guides runs and prints the documented output', { skip, timeout: 300_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  before(async () => {
    database = await createTestDatabase()
    atrium = await startAtrium({ databaseUrl: database.url, space: true, env: { ATRIUM_EGRESS: 'loopback' } })
  })
  after(async () => {
    await atrium?.end()
    await database?.drop()
  })

  for (const [file, markdown] of guides) {
    const isPython = file === 'python.md'
    const blocks = blocksOf(markdown)
    test(file, { skip: blocks.some(({ language }) => language === 'py') && skipWithout('python3') }, async () => {
      const language = isPython ? 'py' : 'ts'
      assert.ok(
        blocks.some((block) => block.language === 'sh') && blocks.some((block) => block.language === language),
        `both for a shell and in ${language}`,
      )
      const tenant = await makeTenant(atrium.origin)
      // A reader has tried other guides before. A page of events has 50.
      await mapConcurrently(Array.from({ length: 60 }), 4, () => makeCollection(atrium.origin, tenant.publishable))
      const hookPort = String(await freePort())
      const here = (text: string) =>
        text
          .replaceAll('http://localhost:8787', atrium.origin)
          .replaceAll('http://localhost:8788', atrium.spacesOrigin)
          .replaceAll('8789', hookPort)
          .replace('wpk_…', tenant.publishable)
          .replace('wsk_…', tenant.secret)
      const mine = { ...settings, text: here(settings.text) }
      const rest = blocks.filter(({ text }) => text !== settings.text)
      await runGuide([mine, ...rest.map((block) => (block.language === 'json' ? block : { ...block, text: here(block.text) }))])
    })
  }
})

test('the TypeScript of the guides compiles as it stands', { timeout: 60_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-guides-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 }))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [file, markdown] of guides) {
    const programs = blocksOf(markdown).filter(({ language }) => language === 'ts')
    for (const [at, { text }] of programs.entries()) await writeFile(join(folder, `${file}-${at}.mts`), text)
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ extends: join(root, 'tsconfig.json'), include: ['*.mts'] }))
  const said = await new Promise((resolve) =>
    execFile(join(root, 'node_modules/.bin/tsc'), ['-p', folder], (_, out) => resolve(out)),
  )
  assert.equal(said, '')
})

// runGuide exports all variables, too: otherwise they would end with the shell of their block.
test('the programs of the guides see the variables that the shell examples set', () => {
  assert.match(settings.text, /^set -a\b/)
})

test('a shell and curl are enough for the examples', () => {
  for (const [file, markdown] of guides) {
    for (const { language, text } of blocksOf(markdown))
      if (language === 'sh') assert.doesNotMatch(text, /\b(?:jq|uuidgen|openssl|bash)\b|<<<|--json/, file)
  }
})

test('the guide to webhooks names each type of event', () => {
  for (const type of Object.keys(eventSpecs)) assert.ok(guides.get('webhooks.md')!.includes(`\`${type}\``), type)
})

test('every link of the guides leads to a file', () => {
  for (const [file, markdown] of guides) {
    for (const [, href] of markdown.matchAll(/\]\(([^)]+)\)/g)) {
      // The server's own address, and others.
      if (!/^https:\/\/|^http:\/\/localhost:8787\//.test(href!))
        assert.ok(existsSync(join(guidesFolder, href!)), `${file}: ${href}`)
    }
  }
})
