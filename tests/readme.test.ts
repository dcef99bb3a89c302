import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { createTestDatabase } from '../packages/server/testing/test-database.ts'
import { startAtrium } from './support/atrium-process.ts'
import { makeTenant } from './support/call-api.ts'
import { skipWithout } from './support/skip-without.ts'

const readme = readFileSync(fileURLToPath(new URL('../README.md', import.meta.url)), 'utf8')
const calls = /^## The main job, in five calls\n[^]*?```sh\n([^]*?)^```/m.exec(readme)![1]!
const skip = skipWithout('curl')

test(
  'the five calls of the README run in a POSIX shell as they stand, and end in a page with a picture',
  { skip, timeout: 120_000 },
  async (t) => {
    const database = await createTestDatabase()
    t.after(() => database.drop())
    const atrium = await startAtrium({ databaseUrl: database.url })
    t.after(() => atrium.end())
    const { publishable } = await makeTenant(atrium.origin)
    assert.doesNotMatch(calls, /\b(?:jq|uuidgen|open)\b(?! the)/)
    // As a paste arrives: a line after the other, on the input. Debian's sh is dash, which takes nothing beyond POSIX.
    const shell = spawn('sh', ['-eu'], { stdio: ['pipe', 'pipe', 'inherit'] })
    shell.stdin.end(calls.replaceAll('http://localhost:8787', atrium.origin).replace('wpk_…', publishable))
    const [printed, code] = await Promise.all([text(shell.stdout), new Promise((ended) => shell.once('close', ended))])
    assert.equal(code, 0, printed)
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
