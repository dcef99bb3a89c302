import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { hashLeaf, hashChildren } from '@atrium/log/merkle'
import { formatVerifier, makeVerifier, parseNote, signatureTypes } from '@atrium/log/note'
import { ed25519PublicKey, signCheckpoint } from '@atrium/log/signing'
import { runAtrium, type AtriumRun } from '../../../../tests/support/run-atrium.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-run-witness-'))
const processes: AtriumRun[] = []
after(async () => {
  for (const run of processes) run.kill('SIGKILL')
  await Promise.all(processes.map((run) => run.ended(10_000)))
  rmSync(folder, { recursive: true })
})

const policy = join(folder, 'logs.txt')
const logKey = makeVerifier('log.example.com/log', signatureTypes.note, ed25519PublicKey(Buffer.alloc(32, 3)))
writeFileSync(policy, `log ${formatVerifier(logKey)}\nquorum none\n`)

function run(...args: string[]): AtriumRun {
  const one = runAtrium(['witness', '--name', 'w1.example.org', '--policy', policy, ...args], {})
  processes.push(one)
  return one
}

/** Starts a witness. Returns its line for a policy, when it listens. */
async function start(data: string): Promise<{ run: AtriumRun; line: string }> {
  const one = run('--data', data, '--port', '0')
  let line: RegExpExecArray | null = null
  while ((line = /^witness \S+ \S+ http:\S+$/m.exec(one.output())) === null) {
    assert.equal(await one.ended(50), undefined, one.output())
  }
  return { run: one, line: line[0] }
}

const keyOf = (line: string) => line.split(' ')[2]

for (const [length, name] of [
  ['short', 'data'],
  ['long', join('a'.repeat(100), 'b'.repeat(100))],
] as const) {
  test(`of two witnesses with one data folder, the second ends; its path is ${length}`, async () => {
    const data = join(folder, name)
    const first = await start(data)
    const second = run('--data', data, '--port', '0')
    assert.equal(await second.ended(60_000), 1)
    assert.equal(second.output(), `atrium: ${join(data, 'witness-state.json')} is in use by another process of atrium\n`)
    first.run.kill('SIGKILL')
    await first.run.ended(10_000)
    const third = await start(data)
    assert.equal(keyOf(third.line), keyOf(first.line))
    third.run.kill('SIGTERM')
    assert.equal(await third.run.ended(10_000), 0)
    assert.deepEqual(readdirSync(data).toSorted(), ['witness-key', 'witness-state.json'], 'no lock is left')
  })
}

test('of witnesses that start at once with a new data folder, at most one runs', async () => {
  const data = join(folder, 'new')
  mkdirSync(data)
  const all = Array.from({ length: 3 }, () => run('--data', data, '--port', '0'))
  const isSettled = async (one: AtriumRun) => {
    while (!one.output().includes('\n')) if ((await one.ended(50)) !== undefined) return
  }
  await Promise.all(all.map(isSettled))
  const running = all.filter((one) => one.output().startsWith('witness '))
  assert.ok(running.length <= 1, all.map((one) => one.output()).join(''))
})

test('a request that is cut off leaves nothing on standard error', async () => {
  const { run: one, line } = await start(join(folder, 'cut'))
  const { hostname, port } = new URL(line.split(' ').at(-1)!)
  for (let i = 0; i < 3; i++) {
    const socket = connect(Number(port), hostname)
    await new Promise((resolve) => {
      socket.write('POST /add-checkpoint HTTP/1.1\r\nHost: w1\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n')
      // The witness reads the body now.
      socket.once('data', resolve)
    })
    socket.destroy()
  }
  one.kill('SIGTERM')
  assert.equal(await one.ended(20_000), 0)
  assert.equal(one.output(), `${line}\n`)
})

test('a signature of the log that a stranger repeats is kept once, and a state with too many can be read', async () => {
  const data = join(folder, 'repeated')
  const [first, second] = [hashLeaf(Buffer.of(1)), hashLeaf(Buffer.of(2))]
  const repeat = (signed: string) => signed.replace(/^— log\S+ \S+\n/m, (line) => line.repeat(64))
  const add = (line: string, old: string, size: number, root: Uint8Array) => {
    const signed = signCheckpoint({ origin: logKey.name, size, root }, Buffer.alloc(32, 3))
    return fetch(`${line.split(' ').at(-1)}/add-checkpoint`, { method: 'POST', body: `${old}\n\n${repeat(signed)}` })
  }
  const { run: one, line } = await start(data)
  assert.equal((await add(line, 'old 0', 1, first)).status, 200)
  const proof = Buffer.from(second).toString('base64')
  assert.equal((await add(line, `old 1\n${proof}`, 2, hashChildren(first, second))).status, 200)
  one.kill('SIGTERM')
  assert.equal(await one.ended(20_000), 0)
  const path = join(data, 'witness-state.json')
  const state = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>
  assert.equal(parseNote(state[logKey.name]!).signatures.length, 2)
  writeFileSync(path, JSON.stringify({ [logKey.name]: repeat(state[logKey.name]!) }))
  const again = await start(data)
  const hash = createHash('sha256').update(logKey.name).digest('hex')
  assert.equal(await (await fetch(`${again.line.split(' ').at(-1)}/${hash}/checkpoint`)).text(), state[logKey.name])
})

test('a wrong option of a witness is one line that names it', async () => {
  for (const [args, says] of [
    [['--port', 'http'], /^error: option '--port <port>' argument 'http' is invalid\. It must be a whole number\n/],
    [['--port', ''], /^error: option '--port <port>' argument '' is invalid\. It must be a whole number\n/],
    [['--port', '65536'], /^error: option '--port <port>' argument '65536' is invalid\. It must be at most 65535\n/],
    [['--data', join(policy, 'data')], /^atrium: \S+ cannot be made: ENOTDIR.*\n$/],
    [['--policy', join(folder, 'missing.txt')], /^atrium: \S+missing\.txt cannot be read\n$/],
  ] as const) {
    const one = run('--data', join(folder, 'options'), ...args)
    assert.equal(await one.ended(60_000), 1)
    assert.match(one.output(), says)
    assert.doesNotMatch(one.output(), /^ +at /m)
  }
})
