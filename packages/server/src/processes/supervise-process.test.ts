import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { superviseProcess } from './supervise-process.ts'
import { StartError } from '#errors/start-error.ts'

async function program(t: TestContext, body: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-kept-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'program.mjs')
  await writeFile(path, `process.send({ listening: 0 })\n${body}\n`)
  return path
}

/** Collects what is logged; `count` resolves with the times at which so many lines had come. */
function collect() {
  const lines: { at: number; line: string }[] = []
  let wake: () => void = () => undefined
  return {
    lines,
    log: (line: string) => {
      lines.push({ at: performance.now(), line })
      wake()
    },
    count: async (wanted: number) => {
      while (lines.length < wanted) await new Promise<void>((resolve) => (wake = resolve))
    },
  }
}

const name = 'the job worker'

test('one that dies at once is started again with growing waits, and the log says how it ended and what it said last', async (t) => {
  const path = await program(t, `console.error('first line'); setTimeout(() => { throw new TypeError('no such bell') }, 5)`)
  const { lines, log, count } = collect()
  const waits = { firstMs: 50, maxMs: 2_000, healthyMs: 60_000 }
  const kept = await superviseProcess({ name, path, env: {}, waits, log })
  await count(5)
  await kept.stop()
  for (const { line } of lines)
    assert.match(line, /^atrium: the job worker ended with exit code 1: TypeError: no such bell; starting it again in \d+\.\d s$/)
  const gaps = lines.slice(1).map(({ at }, i) => at - lines[i]!.at)
  // At least half of 50, 100, 200 and 400 ms.
  gaps.forEach((gap, i) => assert.ok(gap >= 25 * 2 ** i, `${i}: ${gap}`))
})

test('the log names the signal, and one that was healthy is back soon', async (t) => {
  const path = await program(t, `setTimeout(() => process.kill(process.pid, 'SIGKILL'), 120)`)
  const { lines, log, count } = collect()
  const kept = await superviseProcess({ name, path, env: {}, waits: { firstMs: 10, maxMs: 60_000, healthyMs: 100 }, log })
  await count(6)
  await kept.stop()
  for (const { line } of lines) assert.match(line, /ended by SIGKILL; starting it again in 0\.0 s$/)
})

test('stopped while it waits to be started again, it stays down', async (t) => {
  const path = await program(t, `process.exit(3)`)
  const { lines, log, count } = collect()
  const kept = await superviseProcess({ name, path, env: {}, waits: { firstMs: 40, maxMs: 40, healthyMs: 60_000 }, log })
  await count(1)
  await kept.stop()
  await new Promise((resolve) => setTimeout(resolve, 150))
  assert.equal(lines.length, 1)
})

/** Ways to let a spawn fail until the returned function is called. */
const failures: Record<string, { says: RegExp; cause: (env: NodeJS.ProcessEnv) => () => void }> = {
  'Node reports the error': {
    says: /could not be spawned: spawn \S+ ENOENT; starting it again in 0\.0 s$/,
    cause: () => {
      const { execPath } = process
      process.execPath = join(tmpdir(), 'atrium-no-such-program')
      return () => (process.execPath = execPath)
    },
  },
  'Node throws': {
    says: /could not be spawned: .*without null bytes.*; starting it again in 0\.0 s$/,
    cause: (env) => {
      env['BROKEN'] = '\0'
      return () => delete env['BROKEN']
    },
  },
}
for (const [situation, { says, cause }] of Object.entries(failures))
  test(`one that cannot be spawned again is tried until it can: ${situation}`, { timeout: 30_000 }, async (t) => {
    const path = await program(t, `process.exit(3)`)
    const { lines, log, count } = collect()
    const env = {}
    const kept = await superviseProcess({ name, path, env, waits: { firstMs: 20, maxMs: 40, healthyMs: 60_000 }, log })
    const mend = cause(env)
    t.after(mend)
    await count(4)
    mend()
    const [ended, ...failed] = lines.slice(0, 4).map(({ line }) => line)
    assert.match(ended!, /ended with exit code 3/)
    for (const line of failed) assert.match(line, says)
    const ranAgain = () => lines.slice(4).some(({ line }) => line.includes('ended with exit code 3'))
    while (!ranAgain()) await count(lines.length + 1)
    await kept.stop()
  })

test('one that cannot start is not tried again, and its first start fails with the reason', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-kept-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'broken.mjs')
  await writeFile(path, `throw new RangeError('out of rope')`)
  const { lines, log } = collect()
  await assert.rejects(
    superviseProcess({ name, path, env: {}, log }),
    (error) =>
      error instanceof StartError && /did not start: it ended with exit code 1: RangeError: out of rope/.test(error.message),
  )
  assert.equal(lines.length, 0)
})
