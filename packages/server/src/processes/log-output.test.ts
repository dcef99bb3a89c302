import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * What a process writes that logs so many lines and then ends as `ending` says. 2,000 lines are longer than what a pipe
 * holds. They are read after `readAfterMs`.
 */
async function linesOf(ending: string, readAfterMs = 0, count = 2_000): Promise<string[]> {
  const script = `
    import { logOutput } from ${JSON.stringify(import.meta.resolve('./log-output.ts'))}
    for (let i = 0; i < ${count}; i++) logOutput.write('line ' + i + ' ' + 'é'.repeat(50) + '\\n')
    ${ending}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  // Not one reader that begins late: when the child ends, Node reads for whoever does not, and discards it.
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = once(child, 'close')
  if (readAfterMs > 0) child.stdout.pause()
  await sleep(readAfterMs)
  child.stdout.resume()
  await closed
  return Buffer.concat(chunks).toString().trimEnd().split('\n')
}

const endings = {
  'process.exit': 'process.exit(0)',
  'an uncaught error': "throw new Error('expected')",
  'nothing left to do': '',
  'an exit after the first lines were written': "setTimeout(() => { logOutput.write('last line\\n'); process.exit(0) }, 200)",
}

for (const [name, ending] of Object.entries(endings))
  for (const readAfterMs of [0, 1_000])
    test(`log lines: none is lost by ${name}${readAfterMs ? ' while the reader is slow' : ''}`, async () => {
      const lines = await linesOf(ending, readAfterMs)
      assert.equal(lines.length, ending.includes('last') ? 2_001 : 2_000)
      // Compared as text: the difference of two long arrays fills pages.
      assert.equal(
        lines.map((line) => line.split(' ')[1]).join(),
        [...Array(2_000).keys(), ...(ending.includes('last') ? ['line'] : [])].join(),
      )
    })

test('log lines: many long ones are written whole and in order, between short ones', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-log-'))
  const output = await open(join(folder, 'log'), 'w')
  try {
    const script = `
      import { logOutput } from ${JSON.stringify(import.meta.resolve('./log-output.ts'))}
      for (let i = 0; i < 200; i++) logOutput.write(i + ' ' + 'é'.repeat(i % 2 ? 50 : 35_000) + '\\n')`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', output.fd, 'ignore'] })
    assert.deepEqual(await once(child, 'exit'), [0, null])
    const lines = (await readFile(join(folder, 'log'), 'utf8')).trimEnd().split('\n')
    assert.equal(lines.map((line) => `${parseInt(line)}/${line.length}`).join(), expectedLengths().join())
  } finally {
    await output.close()
    await rm(folder, { recursive: true })
  }
})

function expectedLengths(): string[] {
  return Array.from({ length: 200 }, (_, i) => `${i}/${`${i} `.length + (i % 2 ? 50 : 35_000)}`)
}

test('log lines: one that stands alone is written soon', async () => {
  // So few that the pipe holds them: the process may be killed before anything is read.
  const lines = await linesOf("await new Promise((done) => setTimeout(done, 500)); process.kill(process.pid, 'SIGKILL')", 0, 100)
  assert.equal(lines.length, 100)
})

/** A process that logs 8,000 lines a second for 1.5 s, 4 MB in all, and says on standard error how late its timers ran. */
const busy = `
  import { logOutput } from ${JSON.stringify(import.meta.resolve('./log-output.ts'))}
  let latest = 0, last = performance.now()
  setInterval(() => {
    const now = performance.now()
    latest = Math.max(latest, now - last)
    last = now
    for (let i = 0; i < 160; i++) logOutput.write('line ' + 'x'.repeat(345) + '\\n')
  }, 20)
  setTimeout(() => {
    process.stderr.write('late by ' + Math.round(latest) + ' ms')
    setTimeout(() => process.exit(0), 500)
  }, 1_500)`

/** A child that shares standard output. Its start makes a pipe blocking again for all who share it. */
const withChild = `
  import { spawn } from 'node:child_process'
  spawn('sleep', ['2'], { stdio: ['ignore', 'inherit', 'ignore'] })`

function assertNotHeldUp(said: string): void {
  const lateMs = Number(/^late by (\d+) ms$/.exec(said)?.[1])
  assert.ok(lateMs < 1_000, said)
}

const node = [process.execPath, '--input-type=module', '-e']
const noProc = !existsSync('/proc/self/fd') && 'needs /proc'

for (const [output, command, skip] of [
  ['socket', [...node, busy], false],
  ['pipe', ['sh', '-c', '"$@" | { read -r _ <&3; cat; }', 'sh', ...node, busy + withChild], noProc],
] as const)
  test(`log lines: a reader of a ${output} that stops reading stops nothing, and learns what was dropped`, { skip }, async () => {
    const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
    // When it says so, it has logged for 1.5 s. Only then is anything read: how long its start takes does not count.
    const [said] = (await once(child.stderr!, 'data')) as [Buffer]
    // The child of the socket leaves the line unread.
    ;(child.stdio[3] as Writable).on('error', () => undefined).end('\n')
    const lines = (await text(child.stdout!)).trimEnd().split('\n')
    assertNotHeldUp(said.toString())
    const dropped = lines.find((line) => line.includes('dropped'))
    assert.match(dropped ?? '', /^\{"level":40,"time":"[^"]+","pid":\d+,"msg":"\d+ log lines were dropped, [^"]+"\}$/)
    assert.ok(
      lines.every((line) => line === dropped || line.length === 350),
      'a line is broken',
    )
  })

test('log lines: a full disk ends no process', { skip: !existsSync('/dev/full') && 'needs /dev/full' }, async (t) => {
  const full = await open('/dev/full', 'w')
  t.after(() => full.close())
  const child = spawn(node[0]!, [...node.slice(1), busy], { stdio: ['ignore', full.fd, 'pipe'] })
  const said = text(child.stderr ?? Readable.from([]))
  assert.deepEqual(await once(child, 'exit'), [0, null])
  assertNotHeldUp(await said)
})
