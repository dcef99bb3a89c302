import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startVirtualTime } from '#testing/virtual-time.ts'
import { keepPostmaster } from './keep-postmaster.ts'
import type { Postmaster } from './postmaster.ts'

after(startVirtualTime())

const waits = { firstMs: 1, maxMs: 4, healthyMs: 30 }

/** A fake PostgreSQL that can be ended, and fails to start a given number of times. */
function make() {
  const state = { starts: 0, refusals: 0, end: (_reason: string): void => undefined, stopped: [] as number[] }
  const start = async (): Promise<Postmaster> => {
    const process = ++state.starts
    if (state.refusals > 0) {
      state.refusals--
      throw new Error('PostgreSQL did not start: no room')
    }
    const { promise, resolve } = Promise.withResolvers<string>()
    state.end = resolve
    return {
      ended: promise,
      stop: async () => {
        state.stopped.push(process)
        resolve('stopped')
      },
    }
  }
  return { state, start }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1))
}

test('a failure of the first start is thrown', async () => {
  const { state, start } = make()
  state.refusals = 1
  await assert.rejects(keepPostmaster({ start, say: () => undefined, waits }), /no room/)
  assert.equal(state.starts, 1)
})

test('after five failures in a row there is no further restart, and the reason is reported', async () => {
  const { state, start } = make()
  const said: string[] = []
  const kept = await keepPostmaster({ start, say: (line) => said.push(line), waits })
  state.refusals = 99
  state.end('it was ended by SIGKILL')
  const { message } = await kept.failed
  assert.equal(state.starts, 1 + 5)
  assert.match(message, /^PostgreSQL ended 6 times in a row: PostgreSQL did not start: no room$/)
  assert.match(said[0]!, /^PostgreSQL ended: it was ended by SIGKILL; starting it again/)
  await kept.stop()
})

test('failures after a healthy time do not add up', async () => {
  const { state, start } = make()
  const kept = await keepPostmaster({ start, say: () => undefined, waits })
  void kept.failed.then(() => assert.fail('it was given up'))
  for (let round = 1; round <= 8; round++) {
    await new Promise((resolve) => setTimeout(resolve, 35))
    state.end('killed')
    await until(() => state.starts === round + 1)
  }
  await kept.stop()
})

test('a failure that passes by itself is not counted', async () => {
  const { state, start } = make()
  let full = true
  const kept = await keepPostmaster({ start, say: () => undefined, waits, willPass: () => full })
  void kept.failed.then(() => assert.fail('it was given up'))
  state.refusals = 20
  state.end('PANIC: no space')
  await until(() => state.starts === 22)
  full = false
  await kept.stop()
  assert.ok(state.stopped.includes(22))
})

test('stop() while it waits for a restart keeps it stopped', async () => {
  const { state, start } = make()
  const kept = await keepPostmaster({ start, say: () => undefined, waits: { firstMs: 60_000, maxMs: 60_000, healthyMs: 1 } })
  state.end('killed')
  await kept.stop()
  assert.equal(state.starts, 1)
})

test('stop() during a restart waits for the new process and stops it', async () => {
  const { state, start } = make()
  let begun = 0
  const slow = async () => {
    if (begun++ > 0) await new Promise((resolve) => setTimeout(resolve, 50))
    return start()
  }
  const kept = await keepPostmaster({ start: slow, say: () => undefined, waits })
  state.end('killed')
  await until(() => begun === 2)
  await kept.stop()
  assert.equal(state.starts, 2)
  assert.ok(state.stopped.includes(2), 'the new one')
})

test('stop() during a restart that does not end by itself ends it, and nothing more is started or said', async () => {
  const { state, start } = make()
  const said: string[] = []
  let begun = 0
  const kept = await keepPostmaster({
    start: (stopping) => {
      if (begun++ === 0) return start()
      return new Promise((_, reject) => stopping.addEventListener('abort', () => reject(new Error('stopped'))))
    },
    say: (line) => said.push(line),
    waits,
  })
  state.end('killed')
  await until(() => begun === 2)
  await kept.stop()
  assert.equal(begun, 2)
  assert.equal(said.length, 1)
})
