import { encodeBase64 } from '@atrium/log/base64'
import { toHex } from '@atrium/log/bytes'
import { ed25519PublicKey, signCheckpoint, witnessVerifier } from '@atrium/log/signing'
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { formatAddCheckpoint } from '@atrium/log/add-checkpoint'
import { entryTypes } from '@atrium/log/entry-types'
import { hashLeaf } from '@atrium/log/merkle'
import { formatVerifier, makeVerifier, parseNote, signatureTypes } from '@atrium/log/note'
import { judge, parsePolicy } from '@atrium/log/policy'
import { makeEntries, StoredLog } from '@atrium/log/testing/stored-log'
import { Tree } from '@atrium/log/tree'
import { activateKey, announceKey } from '@atrium/server/features/platform-keys/rotate-key'
import { integrateLeaves } from '@atrium/server/features/transparency-log/integrate'
import { listLogVerifiers, logPurpose, makeLogKey } from '@atrium/server/features/transparency-log/log-keys'
import { logOrigin, publishCheckpoint } from '@atrium/server/features/transparency-log/publish'
import { getTree, queueLeaves } from '@atrium/server/features/transparency-log/store'
import { collectCosignatures } from '@atrium/server/features/transparency-log/witnesses'
import { findCheckpoint } from '@atrium/server/features/transparency-log/checkpoint-store'
import { send } from '../../../server/testing/http.ts'
import { startTestApi, type TestApi } from '../../../server/testing/test-api.ts'
import { runAtrium, type AtriumRun } from '../../../../tests/support/run-atrium.ts'
import { createWitnessServer } from './witness-server.ts'
import { openWitnessKey, WitnessState } from './witness-state.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-witness-'))
const opened: Server[] = []
const processes: AtriumRun[] = []
let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(async () => {
  for (const server of opened) {
    server.close()
    server.closeAllConnections()
  }
  for (const run of processes) run.kill()
  await Promise.all(processes.map((run) => run.ended(10_000)))
  await api.close()
  rmSync(folder, { recursive: true })
})

async function startWitness(
  data: string,
  logKeys: Parameters<typeof createWitnessServer>[0]['logKeys'],
  refusals: string[] = [],
) {
  const name = 'witness.example.org/w1'
  const seed = await openWitnessKey(data)
  const state = await WitnessState.open(data)
  const server = createWitnessServer({ name, seed, state, logKeys, onRefusal: (line) => refusals.push(line) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(server)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (body: string | ReadableStream) => {
    const res = await fetch(`${url}/add-checkpoint`, { method: 'POST', body, duplex: 'half' })
    return { status: res.status, body: await res.text(), type: res.headers.get('content-type') }
  }
  return { url, ask, vkey: formatVerifier(witnessVerifier(name, seed)), server }
}

const seed = Buffer.alloc(32, 3)
const origin = 'log.example.com/log'
const logKey = makeVerifier(origin, signatureTypes.note, ed25519PublicKey(seed))

function makeLog(size: number, change?: number) {
  const log = new StoredLog()
  log.append(makeEntries(size).map((entry, i) => (i === change ? Buffer.from('changed') : entry)))
  const prove = (oldSize: number) => new Tree(size, log.read).consistencyProof(oldSize)
  return { log, prove, checkpoint: signCheckpoint({ origin, size, root: log.root() }, seed) }
}

test('a witness cosigns a log that grows, and names a fork, a roll-back, a stranger and a forger', async () => {
  const data = mkdtempSync(join(folder, 'state-'))
  const refusals: string[] = []
  const { ask, server } = await startWitness(data, [logKey], refusals)
  const body = async (oldSize: number, log: ReturnType<typeof makeLog>) =>
    formatAddCheckpoint({ oldSize, proof: await log.prove(oldSize), checkpoint: log.checkpoint })
  assert.equal((await ask(await body(0, makeLog(3)))).status, 200)
  const behind = await ask(await body(2, makeLog(5)))
  assert.deepEqual(behind, { status: 409, body: '3\n', type: 'text/x.tlog.size' })
  assert.equal((await ask(await body(3, makeLog(5)))).status, 200)
  assert.equal((await ask(await body(5, makeLog(5)))).status, 200, 'the same again')
  const forked = await ask(await body(5, makeLog(9, 2)))
  assert.equal(forked.status, 422)
  assert.match(forked.body, /forked/)
  assert.equal((await ask(await body(5, makeLog(5, 2)))).status, 422, 'another root of the same size')
  assert.equal((await ask(await body(3, makeLog(3)))).status, 409, 'a roll-back')
  assert.match(refusals.at(-1) ?? '', /log.example.com\/log has 3 entries, and had 5: rolled back/)
  assert.equal((await ask(formatAddCheckpoint({ oldSize: 5, proof: [], checkpoint: makeLog(3).checkpoint }))).status, 400)
  const stranger = signCheckpoint({ origin: 'other.example.com/log', size: 1, root: hashLeaf(seed) }, seed)
  assert.equal((await ask(formatAddCheckpoint({ oldSize: 0, proof: [], checkpoint: stranger }))).status, 404)
  const forged = signCheckpoint({ origin, size: 9, root: hashLeaf(seed) }, Buffer.alloc(32, 4))
  assert.equal((await ask(formatAddCheckpoint({ oldSize: 5, proof: [], checkpoint: forged }))).status, 403)
  assert.equal((await ask('nonsense')).status, 400)
  const long = new Blob(['x'.repeat(700_000)])
  for (let i = 0; i < 10; i++) assert.equal((await ask(long.stream())).status, 413)
  server.close()
  const restarted = await startWitness(data, [logKey])
  assert.equal((await restarted.ask(await body(5, makeLog(9, 2)))).status, 422, 'it remembers after a restart')
  const races = await Promise.all([6, 7, 8, 9].map(async (size) => restarted.ask(await body(5, makeLog(size)))))
  assert.deepEqual(races.map(({ status }) => status).sort(), [200, 409, 409, 409], 'one of four at once continues')
  rmSync(join(data, 'witness-state.json'))
  await assert.rejects(startWitness(data, [logKey]), /could cosign a fork/)
})

const queue = (...texts: string[]) =>
  queueLeaves(
    api.ctx.db,
    texts.map((text) => ({ leafHash: hashLeaf(Buffer.from(text)), entry: Buffer.from(text) })),
  )
async function grow(...texts: string[]): Promise<void> {
  await queue(...texts)
  await integrateLeaves(api.ctx.db, 512)
  await publishCheckpoint(api.ctx)
}
const served = async (path = 'checkpoint') => (await fetch(`${api.origin}/log/${path}`)).text()
const logTables = ['log_leaves', 'log_tiles', 'log_tree', 'log_checkpoints', 'log_cosignatures']
const sizeOf = (checkpoint: string) => Number(checkpoint.split('\n')[1])
async function snapshot(): Promise<() => Promise<void>> {
  const { pool } = api.ctx.db
  await pool.query(
    logTables.map((table) => `drop table if exists saved_${table}; create table saved_${table} as table ${table}`).join(';'),
  )
  return async () => {
    const restore = logTables.map((table) => `delete from ${table}; insert into ${table} table saved_${table}`)
    await pool.query(`begin; ${restore.join(';')}; commit`)
  }
}

test('the log asks its witnesses, waits for none, and signs nothing after an older backup was restored', async () => {
  const ofLog = logOrigin(api.ctx.config.publicUrl)
  await grow('{"type":"epoch","n":1}')
  const vkey = (await served('vkey')).trim()
  const parsedKey = parsePolicy(`log ${vkey}\nquorum none\n`).logs[0]!.verifier
  const witness = await startWitness(mkdtempSync(join(folder, 'state-')), [parsedKey])
  const dead = witnessVerifier('dead.example.org', Buffer.alloc(32, 8))
  const policyText = `log ${vkey}\nwitness w1 ${witness.vkey} ${witness.url}\nwitness dead ${formatVerifier(dead)} http://127.0.0.1:9\nquorum w1\n`
  const policy = parsePolicy(policyText)
  assert.equal(judge(parseNote(await served()), policy).isWitnessed, false)
  api.ctx.config.logPolicy = policy
  const warnings: unknown[] = []
  const log = Object.assign(Object.create(api.ctx.log), { warn: (fields: unknown) => warnings.push(fields) })
  assert.equal(await collectCosignatures({ ...api.ctx, log }, ofLog), 1)
  assert.deepEqual(warnings, [{ witness: 'dead', reason: 'fetch failed' }])
  assert.deepEqual(judge(parseNote(await served()), policy), { isWitnessed: true, cosigners: ['w1'] })

  const restoreBackup = await snapshot()
  await grow('{"type":"epoch","n":2}', '{"type":"epoch","n":3}')
  await collectCosignatures(api.ctx, ofLog)
  const latest = await served()
  assert.equal(judge(parseNote(latest), policy).isWitnessed, true)

  // While the witness is away, a restored database signs nothing, and an ordinary one does.
  const away = parsePolicy(`witness dead ${formatVerifier(dead)} http://127.0.0.1:9\nquorum none\n`)
  api.ctx.config.logPolicy = away
  await grow('{"type":"epoch","n":4}')
  assert.match(await served(), /^\S+\n4\n/, 'unreachable witnesses delay nothing')

  await restoreBackup()
  await api.ctx.db.pool.query('insert into restores (snapshot_at, confirmed_at) values (now(), now())')
  await grow('{"type":"epoch","n":5}')
  assert.match(await served(), /^\S+\n1\n/)
  assert.equal((await getTree(api.ctx.db)).size, 2)
  api.ctx.config.logPolicy = policy
  await publishCheckpoint(api.ctx)
  assert.match(await served(), /^\S+\n1\n/)
  assert.match((await getTree(api.ctx.db)).refusal?.reason ?? '', /witness w1 .* has 3 leaves, and there are 2 here/)

  // With as many leaves, but others.
  await restoreBackup()
  await grow('{"type":"epoch","n":6}', '{"type":"epoch","n":7}', '{"type":"epoch","n":8}')
  assert.match(await served(), /^\S+\n1\n/)
  assert.match((await getTree(api.ctx.db)).refusal?.reason ?? '', /its root of 3 leaves is another one/)

  // Where no witness objects, the restored log goes on.
  await restoreBackup()
  api.ctx.config.logPolicy = parsePolicy('quorum none\n')
  await grow('{"type":"epoch","n":2}', '{"type":"epoch","n":3}')
  assert.match(await served(), /^\S+\n3\n/)
})

async function restored(): Promise<void> {
  const { pool } = api.ctx.db
  await pool.query('delete from restores')
  await pool.query('insert into restores (snapshot_at, confirmed_at) values (now(), now())')
}

test('a monitor reports growth, unexpected entries, forks and roll-backs, and calls its webhook', async () => {
  const received: any[] = []
  const hook = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk) => (body += chunk))
    req.on('end', () => {
      received.push(JSON.parse(body))
      res.end()
    })
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  opened.push(hook)
  const webhook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`
  const state = join(folder, 'monitor.json')
  const vkey = (await served('vkey')).trim()
  const look = async (...more: string[]) => {
    const args = ['monitor', `${api.origin}/log`, '--vkey', vkey, '--state', state, '--webhook', webhook, '--once', ...more]
    const run = runAtrium(args, {})
    const code = await run.ended(60_000)
    const lines = run
      .output()
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('{'))
    return { code, reports: lines.map((line) => JSON.parse(line)), output: run.output() }
  }
  const first = await look()
  assert.equal(first.code, 0, first.output)
  assert.deepEqual(first.reports, [{ event: 'grown', size: 3, entries: 3, witnesses: [], witnessed: false }])
  assert.deepEqual(received.at(-1), { log: `${api.origin}/log`, ...first.reports[0] })

  const expected = '{"type":"certificate","signed":"a"}'
  const strange = ['{"type":"certificate","signed":"b"}', '{"type":"secret"}', 'no json']
  // Every type that an installation logs is expected.
  const usual = entryTypes.filter((type) => type !== 'certificate' && type !== 'signing_key')
  await grow(expected, ...strange, ...usual.map((type) => JSON.stringify({ type })))
  const list = join(folder, 'expected')
  writeFileSync(list, `# ours\n${toHex(hashLeaf(Buffer.from(expected)))}\n`)
  const before = readFileSync(state, 'utf8')
  const second = await look('--expected', list)
  assert.equal(second.code, 1)
  const leaves = second.reports.filter(({ event }) => event === 'unexpected_entry').map(({ leaf }) => leaf)
  assert.deepEqual(leaves.sort(), strange.map((text) => toHex(hashLeaf(Buffer.from(text)))).sort())
  assert.equal(second.reports.at(-1).size, 12)
  assert.deepEqual((await look()).reports, [], 'nothing new')

  const after = readFileSync(state, 'utf8')
  const forked = JSON.parse(before)
  forked.edge[0][1][0] = encodeBase64(hashLeaf(Buffer.from('another history')))
  writeFileSync(state, JSON.stringify(forked))
  const fork = await look()
  assert.deepEqual([fork.code, fork.reports.at(-1).event], [1, 'forked'])
  assert.match(
    fork.reports.at(-1).message,
    /^the log forked: it signed a tree of 12 entries that is not the tree of the first 3 entries/,
  )
  assert.match(fork.reports.at(-1).checkpoint, /\n12\n/)
  assert.deepEqual(JSON.parse(readFileSync(state, 'utf8')).size, 3, 'a fork is not followed')
  writeFileSync(state, JSON.stringify({ ...JSON.parse(after), size: 99 }))
  assert.equal((await look()).reports[0].event, 'rolled_back')
  const other = formatVerifier(
    makeVerifier(parseNote(await served()).text.split('\n')[0]!, signatureTypes.note, Buffer.alloc(32, 1)),
  )
  assert.equal((await look('--vkey', other)).reports[0].event, 'invalid')
})

test('a restored log signs nothing in place of what its key signed before a rotation, or after it', async () => {
  const { db } = api.ctx
  const ofLog = logOrigin(api.ctx.config.publicUrl)
  const rotate = async () => {
    const id = await announceKey(db, logPurpose, () => makeLogKey(api.ctx.vault))
    await activateKey(db, logPurpose, id)
  }
  const endDay = () =>
    db.pool.query("update platform_keys set retired_at = now() - interval '2 days' where retired_at is not null")
  api.ctx.config.logPolicy = parsePolicy('quorum none\n')
  await grow('{"type":"epoch","n":"before"}')
  const keysBefore = await listLogVerifiers(db, ofLog)
  const [uninformed, another] = [
    await startWitness(mkdtempSync(join(folder, 'state-')), keysBefore),
    await startWitness(mkdtempSync(join(folder, 'state-')), keysBefore),
  ]
  const policyOf = ({ vkey, url }: { vkey: string; url: string }) => parsePolicy(`witness w1 ${vkey} ${url}\nquorum w1\n`)

  // One witness was not told of the rotation, so it has the last checkpoint that the old key signed.
  await rotate()
  const restoreBackup = await snapshot()
  api.ctx.config.logPolicy = policyOf(uninformed)
  await grow('{"type":"epoch","n":"in the day"}')
  assert.equal(await collectCosignatures(api.ctx, ofLog), 1)
  await endDay()
  await restoreBackup()
  await restored()
  const size = sizeOf(await served())
  await grow('{"type":"epoch","n":"another"}')
  assert.equal(sizeOf(await served()), size)
  assert.match((await getTree(db)).refusal?.reason ?? '', /witness w1 has a checkpoint/)

  // Another one was told of a rotation that the restored database does not have.
  await restoreBackup()
  await db.pool.query('delete from restores')
  api.ctx.config.logPolicy = parsePolicy('quorum none\n')
  const unrotated = (await db.pool.query('select * from platform_keys where purpose = $1', [logPurpose])).rows
  await rotate()
  await endDay()
  const told = await startWitness(mkdtempSync(join(folder, 'state-')), await listLogVerifiers(db, ofLog))
  api.ctx.config.logPolicy = policyOf(told)
  await grow('{"type":"epoch","n":"after the day"}')
  assert.equal(await collectCosignatures(api.ctx, ofLog), 1)
  await restoreBackup()
  await db.pool.query('delete from platform_keys where purpose = $1', [logPurpose])
  for (const { id, public_jwk, private_sealed, created_at, retired_at } of unrotated)
    await db.pool.query(
      'insert into platform_keys (purpose, id, public_jwk, private_sealed, created_at, retired_at) values ($1, $2, $3, $4, $5, $6)',
      [logPurpose, id, JSON.stringify(public_jwk), private_sealed, created_at, retired_at],
    )
  await restored()
  await grow('{"type":"epoch","n":"another"}')
  assert.equal(sizeOf(await served()), size)
  // The operator has found that the witness is wrong, and asks another one.
  api.ctx.config.logPolicy = policyOf(another)
  await publishCheckpoint(api.ctx)
  assert.equal(sizeOf(await served()), size + 1)
})

/** `atrium witness` as its own process, behind a proxy that answers in its place if it is told to. */
async function startProxiedWitness(name: string) {
  const file = join(folder, `${name}.txt`)
  const known = await listLogVerifiers(api.ctx.db, logOrigin(api.ctx.config.publicUrl))
  writeFileSync(file, [...known.map((key) => `log ${formatVerifier(key)}`), 'quorum none\n'].join('\n'))
  const data = mkdtempSync(join(folder, 'state-'))
  const run = runAtrium(['witness', '--name', `${name}.example.org`, '--policy', file, '--data', data, '--port', '0'], {})
  processes.push(run)
  let line: RegExpExecArray | null = null
  while ((line = /^witness \S+ (\S+) (http:\S+)$/m.exec(run.output())) === null) {
    assert.equal(await run.ended(50), undefined, run.output())
  }
  const [, vkey, url] = line
  const proxy: { answer?: { status: number; body: string } | undefined; redirectsGets?: boolean; cutsPosts?: boolean } = {}
  const server = createServer((req, res) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      const init = req.method === 'POST' ? { method: 'POST', body: Buffer.concat(chunks) } : {}
      const passOn = async () => {
        const one = await fetch(`${url}${req.url}`, init)
        return { status: one.status, body: await one.text() }
      }
      if (proxy.cutsPosts && req.method === 'POST') return void req.socket.destroy()
      if (proxy.redirectsGets && req.method === 'GET') return void res.writeHead(302, { location: '/elsewhere' }).end()
      const got = proxy.answer ?? (await passOn())
      res.writeHead(got.status).end(got.body)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  opened.push(server)
  return { proxy, line: `witness ${name} ${vkey} http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('a restored log waits for each witness, says which is missing, and goes on without it once it is not in the policy', async () => {
  const ofLog = logOrigin(api.ctx.config.publicUrl)
  const stopped = async () =>
    (await send(api, 'GET', '/operator/queues', { headers: { 'x-admin-token': api.adminToken } })).body.data.log_stopped
  const setPolicy = (...lines: string[]) => {
    api.ctx.config.logPolicy = parsePolicy([...lines, 'quorum none\n'].join('\n'))
  }
  setPolicy()
  await grow('{"type":"epoch","n":"a"}')
  const [w1, w2, w3] = [await startProxiedWitness('w1'), await startProxiedWitness('w2'), await startProxiedWitness('w3')]
  setPolicy(w1.line, w2.line)
  assert.equal(await collectCosignatures(api.ctx, ofLog), 2)
  const size = sizeOf(await served())
  const restoreBackup = await snapshot()
  // Only w1 sees what is lost.
  setPolicy(w1.line)
  await grow('{"type":"epoch","n":"lost"}')
  assert.equal(await collectCosignatures(api.ctx, ofLog), 1)
  await restoreBackup()
  await restored()

  setPolicy(w1.line, w2.line)
  for (const [answer, says] of [
    [{ status: 404, body: 'not found\n' }, /policy: w1 answers 404$/],
    [{ status: 200, body: '<h1>Maintenance</h1>' }, /policy: w1 answers 200 with something else than a checkpoint/],
    [{ status: 503, body: '' }, /policy: w1 answers 503$/],
  ] as const) {
    w1.proxy.answer = answer
    await grow(`{"type":"epoch","n":"instead ${answer.status}"}`)
    assert.equal(sizeOf(await served()), size)
    assert.match(await stopped(), says)
  }
  w1.proxy.cutsPosts = true
  await publishCheckpoint(api.ctx)
  assert.match(await stopped(), /policy: w1 answers 503, and could not be asked to cosign \(\w+\)$/)
  w1.proxy.cutsPosts = false
  w1.proxy.answer = undefined
  await publishCheckpoint(api.ctx)
  assert.match(await stopped(), /witness w1 has a checkpoint that this log signed/)
  setPolicy(w2.line)
  await publishCheckpoint(api.ctx)
  assert.equal(sizeOf(await served()), size, 'the proof stays')

  // Without w1 in the policy, nothing is known of the loss. w3 answers 404, because it has cosigned nothing yet.
  await restoreBackup()
  w1.proxy.answer = { status: 503, body: '' }
  setPolicy(w1.line, w2.line, w3.line)
  await grow('{"type":"epoch","n":"instead"}')
  assert.match(await stopped(), /policy: w1 answers 503$/)
  // A witness shows what it has seen also by a cosignature alone.
  w2.proxy.redirectsGets = true
  setPolicy(w2.line, w3.line)
  await publishCheckpoint(api.ctx)
  assert.equal(sizeOf(await served()), size + 1)
  assert.equal(await stopped(), null)

  // The log of an address that signed nothing yet has nothing to be cosigned. At the old address nothing is waited for.
  const { publicUrl } = api.ctx.config
  await restored()
  api.ctx.config.publicUrl = 'https://next.example.com'
  setPolicy(w3.line)
  await publishCheckpoint(api.ctx)
  assert.match(await stopped(), /w3 answers 404, and this database has no checkpoint of next\.example\.com\/log/)
  api.ctx.config.publicUrl = publicUrl
  await publishCheckpoint(api.ctx)
  assert.equal(await stopped(), null)

  // When w1 is back, its proof stops this log, and no other one.
  w1.proxy.answer = undefined
  setPolicy(w1.line)
  await grow('{"type":"epoch","n":"one more"}')
  assert.match(await stopped(), /witness w1 has a checkpoint/)
  api.ctx.config.publicUrl = 'https://next.example.com'
  setPolicy()
  await publishCheckpoint(api.ctx)
  assert.equal(await stopped(), null)
  assert.match((await findCheckpoint(api.ctx.db, 'next.example.com/log'))?.signed ?? '', /^next.example.com\/log\n/)
  api.ctx.config.publicUrl = publicUrl
})
