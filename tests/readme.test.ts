import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text as readText } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium } from './support/atrium-process.ts'
import { makeTenant } from './support/call-api.ts'
import { skipWithout } from './support/skip-without.ts'

const readme = readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8')
const calls = /^## The main job, in five calls\n[^]*?```sh\n([^]*?)^```/m.exec(readme)![1]!
const credits = /^## Agents and credits\n[^]*?```sh\n([^]*?)^```/m.exec(readme)![1]!
const skip = skipWithout('curl')

/** Like a paste: line by line on standard input. Debian's sh is dash, which accepts only POSIX syntax. */
async function paste(text: string): Promise<string> {
  assert.doesNotMatch(text, /\b(?:jq|uuidgen|openssl|open)\b(?! the)|--json/i)
  const shell = spawn('sh', ['-eu'], { stdio: ['pipe', 'pipe', 'inherit'] })
  shell.stdin.end(text)
  const [printed, code] = await Promise.all([readText(shell.stdout), new Promise((ended) => shell.once('close', ended))])
  assert.equal(code, 0, printed)
  return printed
}

test(
  'the five calls of the README run in a POSIX shell as they stand, and end in a page with a picture',
  { skip, timeout: 120_000 },
  async (t) => {
    const database = await createTestDatabase()
    t.after(() => database.drop())
    const atrium = await startAtrium({ databaseUrl: database.url })
    t.after(() => atrium.end())
    const { publishable } = await makeTenant(atrium.origin)
    const printed = await paste(calls.replaceAll('http://localhost:8787', atrium.origin).replace('wpk_…', publishable))
    assert.match(printed, /Hello from the pier/)
    assert.match(printed, /<title>Lantern night/)
    const address = printed.trim().split('\n').at(-1)!
    const page = await (await fetch(address)).text()
    const source = /<img class="hero"[^>]* src="([^"]+)"/.exec(page)?.[1] ?? /<img[^>]* src="([^"]+)"/.exec(page)?.[1]
    assert.ok(source, 'the page has a picture')
    const picture = await fetch(new URL(source.replaceAll('&amp;', '&'), address))
    const { width } = await sharp(Buffer.from(await picture.arrayBuffer())).metadata()
    assert.ok(width >= 600, `${width} pixels wide`)
  },
)

test(
  'the calls about agents and credits run in a POSIX shell as they stand, and end in a room in which the agent answers',
  { skip, timeout: 120_000 },
  async (t) => {
    const database = await createTestDatabase()
    t.after(() => database.drop())
    const atrium = await startAtrium({ databaseUrl: database.url, space: true })
    t.after(() => atrium.end())
    const { publishable, secret } = await makeTenant(atrium.origin)
    // They use the address, the key and the function of the previous block.
    const before = calls.slice(0, calls.indexOf('# 1.'))
    const here = (before + credits)
      .replaceAll('http://localhost:8787', atrium.origin)
      .replaceAll('http://localhost:8788', atrium.spacesOrigin)
      .replace('wpk_…', publishable)
      .replace('wsk_…', secret)
    const printed = await paste(here)
    const [, room, mk] = /\/space#([^.\s]+)\.(\S+)\s*$/.exec(printed) ?? []
    assert.ok(room && mk, printed)
    const ask = async (body: object) => {
      const res = await fetch(`${atrium.origin}/v1/space`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ room, mk, ...body }),
      })
      return (await res.json()) as { entries?: { author: { kind: string } }[] }
    }
    await ask({ op: 'turn', message: { text: 'Hello' } })
    for (const deadline = Date.now() + 60_000; ;) {
      const { entries = [] } = await ask({ op: 'poll', sinceEtag: '', sinceCount: 0 })
      if (entries.some(({ author }) => author.kind === 'agent')) break
      assert.ok(Date.now() < deadline, JSON.stringify(entries))
      await setTimeout(200)
    }
  },
)
