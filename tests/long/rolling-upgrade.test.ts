import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createTestDatabase } from '../../packages/server/testing/test-database.ts'
import { adminToken, freePort } from '../support/atrium-process.ts'
import { askGood, call, makeTenant, NoAnswer, type Answer, type CallOptions } from '../support/call-api.ts'
import { checkOut, findPreviousRef } from '../support/release-tree.ts'

const thisTree = join(import.meta.dirname, '../..')
const previous = findPreviousRef()
const requestsPerSecond = 50
/** What a load balancer does: each request on a connection that nobody is about to close. */
const agent = new Agent({ keepAlive: false })

interface Part {
  name: string
  role: 'api' | 'worker' | 'space'
  port: number
}

interface Running {
  output(): string
  end(): Promise<void>
}

test(
  'the previous release serves while the new one migrates; rolling to the new one and back costs no request',
  { skip: previous === undefined && 'needs the git history, or ATRIUM_TEST_PREVIOUS', timeout: 300_000 },
  async (t) => {
    const old = await checkOut(previous!)
    t.after(() => old.remove())
    const database = await createTestDatabase({ template: 'template0' })
    t.after(() => database.drop())
    const dataDir = await mkdtemp(join(tmpdir(), 'atrium-rolling-'))
    t.after(() => rm(dataDir, { recursive: true, force: true }))

    const parts: Part[] = []
    for (const [name, role] of [
      ['api-1', 'api'],
      ['api-2', 'api'],
      ['worker', 'worker'],
      ['space-1', 'space'],
      ['space-2', 'space'],
    ] as const)
      parts.push({ name, role, port: await freePort() })
    const originsOf = (role: Part['role']) =>
      parts.filter((part) => part.role === role).map(({ port }) => `http://localhost:${port}`)
    const [apis, spaces] = [originsOf('api'), originsOf('space')]
    const env = {
      DATABASE_URL: database.url,
      ATRIUM_DATA_DIR: dataDir,
      ATRIUM_PUBLIC_URL: apis[0]!,
      ATRIUM_SPACES_URL: spaces[0]!,
    }
    const running = new Map<string, Running>()
    t.after(() => Promise.all([...running.values()].map((one) => one.end())))
    const start = async (tree: string, part: Part) => running.set(part.name, await startPart(tree, part, env))
    const rollTo = async (tree: string) => {
      for (const part of parts) {
        const one = running.get(part.name)
        await one?.end()
        assert.doesNotMatch(one?.output() ?? '', /"level":[56]0/, `${part.name} before ${tree}`)
        await start(tree, part)
      }
    }

    await migrate(old.folder, env)
    for (const part of parts) await start(old.folder, part)
    const load = await startLoad(apis, spaces)
    // Also where the test has failed: the process would not end otherwise.
    t.after(() => (load.stopped = true))
    await delay(2_000)
    await migrate(thisTree, env)
    await delay(2_000)
    load.phase = 'new release'
    await rollTo(thisTree)
    await load.checkEvents()
    load.phase = 'roll-back'
    await rollTo(old.folder)
    await load.checkEvents()
    await load.stop(t)
  },
)

async function startPart(tree: string, { role, port }: Part, env: Record<string, string>): Promise<Running> {
  const child = spawn(process.execPath, [join(tree, 'packages/cli/src/atrium.ts'), role], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'test',
      PORT: String(port),
      SPACE_PORT: String(port),
      ATRIUM_ADMIN_TOKEN: adminToken,
      ATRIUM_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      ATRIUM_RATE_LIMIT: 'off',
      ATRIUM_LOG: 'info',
      ...env,
    },
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const path = { api: '/readyz', space: '/cert.json', worker: undefined }[role]
  const isUp = async () =>
    path === undefined || (await fetch(`http://localhost:${port}${path}`).catch(() => undefined))?.ok === true
  for (const deadline = Date.now() + 60_000; !(await isUp()); await delay(50)) {
    assert.equal(child.exitCode, null, output)
    assert.ok(Date.now() < deadline, output)
  }
  return {
    output: () => output,
    end: async () => {
      child.kill()
      await ended
    },
  }
}

async function migrate(tree: string, env: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [join(tree, 'packages/cli/src/atrium.ts'), 'migrate'], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'test', ...env },
  })
  assert.equal(await new Promise((resolve) => child.once('exit', resolve)), 0)
}

/** Requests at an even pace, whatever their answers take. A request that finds nobody goes to the other one. */
async function startLoad(apis: string[], spaces: string[]) {
  const { publishable: key, secret } = await makeTenant(apis[0]!)
  const collection = (await askGood(apis[0]!, 'POST /v1/collections', { key, body: {} })).data
  const path = `/v1/collections/${collection.id}`
  const room = { room: 'rolling', mk: randomBytes(32).toString('base64url') }
  const failures: string[] = []
  const done = { items: 0, turns: 0, requests: 0 }
  const state = { phase: 'old release', stopped: false }

  const send = async (origins: string[], route: string, options: CallOptions): Promise<Answer> => {
    const first = done.requests
    for (let i = 0; ; i++) {
      try {
        return await call(origins[(first + i) % origins.length]!, route, { ...options, agent })
      } catch (error) {
        if (!(error instanceof NoAnswer) || i === origins.length) throw error
      }
    }
  }
  const request = async (n: number): Promise<void> => {
    const expect = (answer: Answer) => {
      if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`)
    }
    if (n % 10 === 0) {
      const body = { op: 'turn', ...room, message: { text: 'Hello', client_id: randomUUID() } }
      expect(await send(spaces, 'POST /space', { body }))
      done.turns++
    } else if (n % 2 === 0) {
      const body = { type: 'message', content: { n } }
      expect(await send(apis, `POST ${path}/items`, { key, idempotencyKey: randomUUID(), body }))
      done.items++
    } else expect(await send(apis, `GET ${path}`, { key }))
  }

  const underWay = new Set<Promise<void>>()
  const sending = (async () => {
    for (const startedAt = performance.now(); !state.stopped;) {
      const one = request(done.requests++).catch((error: Error) => void failures.push(`${state.phase}: ${error.message}`))
      underWay.add(one)
      void one.finally(() => underWay.delete(one))
      await delay(Math.max(0, startedAt + (done.requests * 1_000) / requestsPerSecond - performance.now()))
    }
    await Promise.all(underWay)
  })()

  return Object.assign(state, {
    /** Each process numbers the events of both releases, and none is missing. */
    checkEvents: async () => {
      for (const origin of apis) {
        const added = done.items
        const types: string[] = []
        for (;;) {
          const { text } = await askGood(origin, `GET /v1/events?after=${types.length}&limit=100`, { key: secret })
          const { data: page } = JSON.parse(text) as { data: { type: string; sequence: number }[] }
          if (page.length === 0) break
          assert.deepEqual(
            page.map(({ sequence }) => sequence),
            page.map((_, i) => types.length + 1 + i),
          )
          types.push(...page.map(({ type }) => type))
        }
        assert.ok(types.filter((type) => type === 'item.created').length >= added, `${state.phase}: events are missing`)
      }
    },
    stop: async (t: TestContext) => {
      state.stopped = true
      await sending
      t.diagnostic(`${done.requests} requests, ${done.items} items, ${done.turns} turns, ${failures.length} failures`)
      assert.deepEqual(failures, [])
      assert.equal((await askGood(apis[0]!, `GET ${path}`, { key })).data.item_count, done.items)
      // From near the end: a slow machine makes more lines than one answer has.
      const poll = { op: 'poll', ...room, sinceEtag: '', sinceCount: done.turns }
      const { text } = await askGood(spaces[0]!, 'POST /space', { body: poll })
      assert.equal((JSON.parse(text) as { count: number }).count, done.turns + 1, 'each turn once, after the policy')
    },
  })
}
