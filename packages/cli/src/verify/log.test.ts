import { toHex } from '@atrium/log/bytes'
import { cosign, ed25519PublicKey, signCheckpoint, witnessVerifier } from '@atrium/log/signing'
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { appPageEntry } from '@atrium/log/app-page'
import { hashLeaf } from '@atrium/log/merkle'
import { formatSignature, formatVerifier, makeVerifier, parseNote, signatureTypes } from '@atrium/log/note'
import { formatProof } from '@atrium/log/proof'
import { makeEntries, StoredLog } from '@atrium/log/testing/stored-log'
import { Tree } from '@atrium/log/tree'
import { json, policy as contentPolicy, startStubService, type StubService } from './testing/stub-service.ts'
import { verify } from './verify.ts'

const origin = 'api.example/log'
const seed = Buffer.alloc(32, 5)
const key = makeVerifier(origin, signatureTypes.note, ed25519PublicKey(seed))
const witnessSeed = Buffer.alloc(32, 6)
const witness = witnessVerifier('w.example/w', witnessSeed)
const epoch = {
  epoch: 'e1',
  issuer: 'ten_1',
  public_key: { kty: 'RSA', n: 'AQ', e: 'AQAB' },
  value: 5,
  created_at: '2026-11-20T09:30:00.000Z',
  expires_at: null,
}

let space: StubService
let api: StubService
let folder = ''
beforeEach(async () => {
  space = await startStubService()
  api = await startStubService()
  folder = mkdtempSync(join(tmpdir(), 'atrium-verify-log-'))
  space.answers['GET /space-config'] = json({ api_url: api.origin, identity: null })
  const csp = contentPolicy((directives) => (directives['connect-src'] = `'self' blob: ${api.origin}`))
  const page = space.answers['GET /space'] as { headers: Record<string, string>; body: string }
  space.answers['GET /space'] = { ...page, headers: { ...page.headers, 'content-security-policy': csp } }
  writeFileSync(join(folder, 'policy'), `log ${formatVerifier(key)}\nquorum none\n`)
  offer(epoch)
})
afterEach(() => {
  space.close()
  api.close()
  rmSync(folder, { recursive: true })
})

/** Answers with these epochs, in pages as the API has them. */
function offer(...epochs: object[]): void {
  for (let from = 0; from === 0 || from < epochs.length; from += 200) {
    const isLast = from + 200 >= epochs.length
    answerPage(from, epochs.slice(from, from + 200), isLast ? undefined : `after ${from + 200}`)
  }
}

function answerPage(from: number, data: unknown, next?: string): void {
  const cursor = from === 0 ? '' : `&cursor=${encodeURIComponent(`after ${from}`)}`
  api.answers[`GET /v1/epochs?limit=200${cursor}`] = json({ data, meta: next === undefined ? {} : { next_cursor: next } })
}

const makeEpochs = (count: number) => Array.from({ length: count }, (_, i) => ({ ...epoch, epoch: `e${i + 1}` }))

/** The entries that an honest log has. */
function honest(epochs: readonly object[] = [epoch]): Buffer[] {
  const { signed, sig, alg, pubkey } = space.certificate.cert
  const files = new Map(space.build.app.filter(({ path }) => path !== '/space').map(({ path, body }) => [path, body]))
  const code = (JSON.parse(signed) as { functionCodeSha256: string }).functionCodeSha256
  const page = appPageEntry({ page: space.build.app[0]!.body, files, code })
  const logged = epochs.map((one) => ({ type: 'epoch', ...one }))
  return [{ type: 'certificate', signed, sig, alg, pubkey }, page, ...logged].map((entry) => Buffer.from(JSON.stringify(entry)))
}

/** Serves a log with these entries. */
async function serveLog(entries: readonly Buffer[]): Promise<void> {
  for (const path of Object.keys(api.answers)) if (path.includes('/log/')) delete api.answers[path]
  api.answers['GET /log/checkpoint'] = { body: makeLog(entries).checkpoint }
  await serveProofs(entries)
}

function makeLog(entries: readonly Buffer[]) {
  const log = new StoredLog()
  log.append(entries)
  return { log, checkpoint: signCheckpoint({ origin, size: log.size, root: log.root() }, seed) }
}

/** Serves proofs of the entries in the tree that they make, and its tiles, whatever tree the log has. */
async function serveProofs(entries: readonly Buffer[], cosigned = (checkpoint: string) => checkpoint): Promise<void> {
  const { log, checkpoint: signed } = makeLog(entries)
  const checkpoint = cosigned(signed)
  for (const [path, body] of log.tiles) api.answers[`GET /log/${path}`] ??= { body }
  for (const [index, entry] of entries.entries()) {
    const hashes = await new Tree(log.size, log.read).inclusionProof(index)
    api.answers[`GET /log/proof/${toHex(hashLeaf(entry))}`] = { body: formatProof({ index, hashes, checkpoint }) }
  }
}

async function run(options: object = {}): Promise<{ code: number; output: string }> {
  const lines: string[] = []
  const files = { logPolicy: join(folder, 'policy'), logState: join(folder, 'seen') }
  const code = await verify(space.origin, { ...files, ...options, write: (line) => lines.push(line) })
  return { code, output: lines.join('\n') }
}

test('what an honest log has is proved, and that it grows', async () => {
  await serveLog(honest())
  const first = await run()
  assert.equal(first.code, 0, first.output)
  for (const said of [
    /the certificate is in the log/,
    /the page, with the files/,
    /the epochs that are offered are the logged ones \(1\)/,
  ])
    assert.match(first.output, new RegExp(`proved +${said.source}`))
  assert.match(first.output, /not checked .*first time/)
  assert.match(first.output, /not checked .*not witnessed/)
  await serveLog([...honest(), ...makeEntries(5)])
  const second = await run()
  assert.equal(second.code, 0, second.output)
  assert.match(second.output, /proved +the log continues the 3 entries/)
})

test('a certificate, page or epoch that is not the logged one fails', async () => {
  const [certificate, page, logged] = honest() as [Buffer, Buffer, Buffer]
  await serveLog([Buffer.from('x'), page, logged])
  assert.match((await run()).output, /FAILED +the certificate in the log/)
  await serveLog([certificate, Buffer.from('x'), logged])
  assert.match((await run({ logState: undefined })).output, /FAILED +the page in the log/)
  await serveLog([certificate, page, logged])
  for (const other of [
    { value: 4 },
    { expires_at: 'x' },
    { expires_at: 'never 1' },
    { expires_at: '0' },
    { expires_at: '' },
    { expires_at: 0 },
  ]) {
    offer({ ...epoch, ...other })
    const { code, output } = await run({ logState: undefined })
    assert.match(output, /FAILED +the epochs in the log: epoch e1 is not as it was logged/, JSON.stringify(other))
    assert.equal(code, 1)
  }
  offer(epoch, { ...epoch, epoch: 'e2', expires_at: '2020-11-20T09:30:00.000Z' })
  assert.match((await run({ logState: undefined })).output, /proved +the epochs that are offered are the logged ones \(1\)/)
})

test('the epochs are read to the end of the list, and the newest are compared', async () => {
  const epochs = makeEpochs(450)
  await serveLog(honest(epochs))
  offer(...epochs)
  const { code, output } = await run()
  assert.equal(code, 0, output)
  assert.match(output, /proved +the epochs that are offered are the logged ones \(40\)\nnot checked +410 older epochs/)
  offer(...epochs.with(429, { ...epochs[429]!, value: 4 }))
  const other = await run()
  assert.equal(other.code, 1)
  assert.match(other.output, /FAILED +the epochs in the log: epoch e430 is not as it was logged/)
})

test('a list of epochs that does not end fails, and what was read of it is compared', async () => {
  const epochs = makeEpochs(450)
  await serveLog(honest(epochs))
  const fails = async (said: RegExp) => {
    const { code, output } = await run({ logState: undefined })
    assert.equal(code, 1)
    assert.match(output, said)
    assert.doesNotMatch(output, /epochs that are offered/)
  }
  offer(...epochs)
  for (const next of ['after 200', '', 'x'.repeat(501)]) {
    answerPage(200, epochs.slice(200, 400), next)
    await fails(/FAILED +the epochs in the log: the cursor of page 2 of \/v1\/epochs leads to no other page/)
  }
  answerPage(200, [{ ...epoch, value: 4 }], 'after 200')
  await fails(/FAILED +the epochs in the log: epoch e1 is not as it was logged/)
  for (const data of [{}, null, [1]]) {
    answerPage(200, data)
    await fails(/FAILED +the epochs in the log: page 2 of \/v1\/epochs is no list of epochs/)
  }
  // Another empty page after each.
  for (let page = 0; page < 1_001; page++) answerPage(page * 200, [], `after ${(page + 1) * 200}`)
  await fails(/FAILED +the epochs in the log: the list of epochs has more than 1000 pages/)
})

test('a page of epochs that the API limits is asked for again, and not for ever', async () => {
  const page = api.answers['GET /v1/epochs?limit=200']!
  let refusals = 1
  api.answers['GET /v1/epochs?limit=200'] = () =>
    refusals-- > 0 ? { status: 429, headers: { 'retry-after': '1' }, body: '' } : (page as { body: string })
  await serveLog(honest())
  assert.match((await run()).output, /proved +the epochs that are offered are the logged ones/)
  refusals = Infinity
  assert.match((await run()).output, /FAILED +the epochs in the log: \/v1\/epochs\?limit=200 answered 429/)
})

test('a log that was rolled back, or forked, is named, and nothing of it is believed', async () => {
  await serveLog([...honest(), ...makeEntries(5)])
  await run()
  for (const [entries, said] of [
    [honest(), /FAILED +the history of the log: the log was rolled back: it had 8 entries .* now has 3/],
    [[...honest(), ...makeEntries(5, 90)], /FAILED +the history of the log: the log forked: it has another root for 8/],
    [[...honest(), ...makeEntries(9, 90)], /FAILED +the history of the log: the log forked/],
  ] as const) {
    await serveLog(entries)
    const { code, output } = await run()
    assert.equal(code, 1)
    assert.match(output, said)
    assert.doesNotMatch(output, /certificate is in the log/)
  }
  await serveLog([...honest(), ...makeEntries(5)])
  assert.equal((await run()).code, 0, 'what was seen before is still remembered')
})

test('checks that run at once with one state pass, and the newest head that one of them has seen is remembered', async () => {
  const more = makeEntries(5)
  await serveLog(honest())
  for (const { code, output } of await Promise.all(Array.from({ length: 8 }, () => run()))) assert.equal(code, 0, output)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('seen')),
    ['seen'],
  )
  const remember = ({ log }: ReturnType<typeof makeLog>) =>
    writeFileSync(join(folder, 'seen'), JSON.stringify({ origin, size: log.size, root: toHex(log.root()) }))
  const sizeSeen = () => JSON.parse(readFileSync(join(folder, 'seen'), 'utf8')).size
  // While this check reads the head, another one sees a later head.
  await serveLog([...honest(), ...more])
  const meanwhile = (other: readonly Buffer[]) => {
    remember(makeLog(honest()))
    api.answers['GET /log/checkpoint'] = () => {
      remember(makeLog(other))
      return { body: makeLog(honest()).checkpoint }
    }
  }
  meanwhile([...honest(), ...more])
  const older = await run()
  assert.equal(older.code, 0, older.output)
  assert.equal(sizeSeen(), 8)
  // The other check was shown another log.
  meanwhile([...more, ...honest()])
  assert.match((await run()).output, /FAILED +the history of the log: the log forked/)
})

test('a proof of another head is believed only if one continues the other', async () => {
  const others = makeEntries(8)
  const fails = async (entry: string) => {
    const { code, output } = await run({ logState: undefined })
    assert.match(output, new RegExp(`FAILED +the ${entry} in the log: .*(forked|not that of)`))
    assert.equal(code, 1)
  }
  // An older head that the log has.
  await serveLog([...honest(), ...others])
  await serveProofs(honest())
  assert.equal((await run({ logState: undefined })).code, 0)
  // An older and a newer head, of trees that only this machine is shown.
  for (const shown of [honest(), [...makeEntries(9, 90), ...honest()]]) {
    await serveLog(others)
    await serveProofs(shown)
    await fails('certificate')
  }
  // The log grew after its head was read.
  await serveLog([...others, ...honest()])
  api.answers['GET /log/checkpoint'] = { body: makeLog(others).checkpoint }
  assert.equal((await run({ logState: undefined })).code, 0)
  // Both heads continue the first one, and not each other.
  await serveProofs([...others, honest()[1]!, ...makeEntries(2, 90)])
  await fails('page')
})

test('an entry that only a newer head has must be witnessed as well', async () => {
  const others = makeEntries(8)
  const cosigned = (checkpoint: string) =>
    checkpoint + formatSignature(cosign(parseNote(checkpoint).text, witness.name, witnessSeed, 1))
  writeFileSync(join(folder, 'policy'), `log ${formatVerifier(key)}\nwitness w ${formatVerifier(witness)}\nquorum w\n`)
  await serveLog([...others, ...honest()])
  api.answers['GET /log/checkpoint'] = { body: cosigned(makeLog(others).checkpoint) }
  assert.match((await run()).output, /FAILED +the certificate in the log: .*newer head that is not witnessed/)
  await serveProofs([...others, ...honest()], cosigned)
  const { code, output } = await run()
  assert.equal(code, 0, output)
})

test('the witnesses of the policy must have cosigned, and the log must have its key', async () => {
  await serveLog(honest())
  writeFileSync(join(folder, 'policy'), `log ${formatVerifier(key)}\nwitness w ${formatVerifier(witness)}\nquorum w\n`)
  assert.match((await run()).output, /FAILED .*is not witnessed/)
  const other = makeVerifier(origin, signatureTypes.note, ed25519PublicKey(Buffer.alloc(32, 9)))
  writeFileSync(join(folder, 'policy'), `log ${formatVerifier(other)}\nquorum none\n`)
  assert.match(
    (await run()).output,
    /FAILED +the transparency log: .*not signed by its key .*, but it names [0-9a-f]{8}: if the operator has rotated/,
  )
})

test('a policy that cannot be read ends it, and without one the log is not checked', async () => {
  assert.equal((await run({ logPolicy: join(folder, 'none') })).code, 2)
  writeFileSync(join(folder, 'policy'), 'nonsense\n')
  assert.equal((await run()).code, 2)
  assert.equal((await run({ logPolicy: undefined })).code, 2)
  assert.match((await run({ logPolicy: undefined, logState: undefined })).output, /not checked .*transparency log/)
})
