import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createTestProvider } from '../packages/identity/src/testing/provider.ts'
import { LineReader } from '../packages/room-client/src/line-reader.ts'
import { findTurn } from '../packages/room-client/src/turn.ts'
import type { Entry } from '../packages/room-client/src/space-ops.ts'
import { ListedReader } from '../packages/room-client/src/listed-reader.ts'
import { TokenJudge } from '../packages/room-client/src/member-standing.ts'
import { checkIdToken } from '../packages/room-client/src/sealed-token.ts'
import type { RoomDevice } from '../packages/room-client/src/room-device.ts'
import { mutateRoom } from '../packages/room-client/src/testing/mutated-rooms.ts'
import { seeded } from '../packages/room-client/src/testing/mutate-json.ts'
import { contestedDevices } from '../packages/room-client/src/testing/contested-devices.ts'
import { rememberCrypto } from '../packages/room-client/src/testing/remember-crypto.ts'
import { returningDevices } from '../packages/room-client/src/testing/returning-devices.ts'
import {
  hostedAgent,
  openHosted,
  openTwoStays,
  tamperedHostedRooms,
} from '../packages/room-client/src/testing/tampered-hosted-rooms.ts'
import {
  exported,
  member,
  openListed,
  openRekeyed,
  owner,
  room,
  tamperedListedRooms,
} from '../packages/room-client/src/testing/tampered-listed-rooms.ts'
import { openWithSecondDevice, tamperedSecondDevices } from '../packages/room-client/src/testing/tampered-second-devices.ts'
import { keys, open, pageOf, secret, type Store, tamperedRooms } from '../packages/room-client/src/testing/tampered-rooms.ts'
import {
  openAsDeepAsAllowed,
  openWithLongName,
  openWithUnknownRevoked,
  tamperedSpellings,
} from '../packages/room-client/src/testing/tampered-spellings.ts'
import { mapConcurrently } from './support/map-concurrently.ts'
import { findProgram, skipWithout } from './support/skip-without.ts'

rememberCrypto()

const python = findProgram('python3')
const skip = skipWithout('python3') || (hasCryptography() ? false : 'no cryptography here: apt-get install python3-cryptography')
const program = join(import.meta.dirname, 'oracles/client_sealed_reader.py')

function hasCryptography(): boolean {
  try {
    execFileSync(python!, ['-c', 'import cryptography'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** A reader that was written from docs/space/client-sealed.md alone. */
async function readInPython(
  pages: object[],
  arguments_ = [secret.room, secret.mk],
): Promise<{ code: number; messages: object[]; problem: string }> {
  const child = spawn(python!, [program, ...arguments_])
  child.stdin.end(JSON.stringify(pages))
  const [out, problem, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  const messages = out.split('\n').filter((line) => line !== '')
  return { code: code as number, messages: messages.map((line) => JSON.parse(line) as object), problem: problem.trim() }
}

test('a reader in Python derives the same access key', { skip }, () => {
  const printed = execFileSync(python!, [program, '--access', secret.room, secret.mk], { encoding: 'utf8' })
  assert.equal(printed.trim(), keys.access)
})

test('a reader in Python reads an honest room as ours does', { skip }, async () => {
  const { lines } = await open(5)
  const pages = [await pageOf(lines.slice(0, 2)), await pageOf(lines.slice(2), {}, 2)]
  const ours = new LineReader(keys)
  const entries = [...(await ours.take(pages[0]!)), ...(await ours.take(pages[1]!))]
  const { code, messages, problem } = await readInPython(pages)
  assert.deepEqual([code, problem], [0, ''])
  assert.deepEqual(
    messages,
    entries.map(({ seq, id, at, message }) => ({ seq, id, at, text: message.text })),
  )
})

const someTurn = { t: 'turn', id: 'i', at: '2026-11-24T09:30:00.000Z', text: 'x' }

/** Records that two readers could judge differently, and whether the page allows them. */
const records: (readonly [isTurn: boolean, member: object])[] = [
  [true, {}],
  ...['2024-02-29T23:59:59.999Z', '0000-02-29T00:00:00.000Z', '9999-12-31T23:59:59.999Z'].map((at) => [true, { at }] as const),
  ...[
    '2026-11-24T09:30:00Z',
    '2026-11-24T09:30:00.00Z',
    '2026-11-24T09:30:00.000000Z',
    '2026-11-24T09:30:00.000',
    '2026-11-24T09:30:00.000z',
    '2026-11-24t09:30:00.000Z',
    '2026-11-24 09:30:00.000Z',
    '2026-11-24T09:30:00.000+00:00',
    '2026-11-24T10:30:00.000+01:00',
    '+02026-11-24T09:30:00.000Z',
    '2026-11-24T24:00:00.000Z',
    '2026-11-24T09:60:00.000Z',
    '2026-06-30T23:59:60.000Z',
    '2026-02-29T09:30:00.000Z',
    '1900-02-29T09:30:00.000Z',
    '2026-11-31T09:30:00.000Z',
    '2026-00-01T09:30:00.000Z',
    '2026-13-01T09:30:00.000Z',
    '2026-11-00T09:30:00.000Z',
    '２０２６-11-24T09:30:00.000Z',
    '2026-11-24T09:30:00.000Z\n',
    'Tue, 24 Nov 2026 09:30 GM',
    '24 November 2026 09:30:00',
    '',
    1_795_512_600_000,
    null,
  ].map((at) => [false, { at }] as const),
  ...['x'.repeat(16_384), '😀'.repeat(16_384), '\u{d83d}'.repeat(16_384), '\0'].map((body) => [true, { text: body }] as const),
  ...['', 'x'.repeat(16_385), '😀'.repeat(16_385), 7, null].map((body) => [false, { text: body }] as const),
  [true, { name: '😀'.repeat(80), id: '😀'.repeat(100), reply_to: '😀'.repeat(100) }],
  ...[{ name: '😀'.repeat(81) }, { id: '😀'.repeat(101) }, { reply_to: '😀'.repeat(101) }].map(
    (member) => [false, member] as const,
  ),
  ...[{ name: '' }, { name: null }, { reply_to: '' }, { t: 'Turn' }].map((member) => [false, member] as const),
]

test('a reader in Python and ours agree on what a message is: times, and lengths in code points', { skip }, () => {
  const judge = `
import json, sys
sys.path.insert(0, sys.argv[1])
from client_sealed_reader import as_message, parse_object
print(json.dumps([as_message(parse_object(record.encode("utf-8"))) is not None for record in json.load(sys.stdin)]))`
  const texts = records.map(([, member]) => JSON.stringify({ ...someTurn, ...member }))
  const printed = execFileSync(python!, ['-B', '-c', judge, dirname(program)], { input: JSON.stringify(texts), encoding: 'utf8' })
  const theirs = JSON.parse(printed) as boolean[]
  for (const [i, [isTurn, member]] of records.entries()) {
    const ours = findTurn(JSON.parse(texts[i]!)) !== undefined
    assert.deepEqual({ ours, theirs: theirs[i] }, { ours: isTurn, theirs: isTurn }, JSON.stringify(member).slice(0, 100))
  }
})

test('a reader in Python finds a farewell as ours does', { skip }, async () => {
  const store = await open(1)
  const link = `harbour~${secret.mk}`
  await store.say('bye', { record: { t: 'farewell', link } })
  await store.say('late')
  const page = await pageOf(store.lines)
  const ours = new LineReader(keys)
  assert.equal((await ours.take(page)).length, 2, 'a message that was on its way is shown')
  assert.deepEqual([ours.farewell?.seq, ours.farewell?.to], [2, { room: 'harbour', mk: secret.mk }])
  const { code, messages, problem } = await readInPython([page])
  assert.deepEqual([code, messages.length, problem], [0, 2, `farewell at 2 to ${link}`])
})

test('a reader in Python names each tampered room as ours does, and the same line', { skip }, async () => {
  const rooms = await Promise.all(Object.values(tamperedRooms).map(([, makePages]) => makePages()))
  const theirs = execFileSync(python!, [program, '--each', secret.room, secret.mk], {
    input: JSON.stringify(rooms),
    encoding: 'utf8',
  }).split('\n')
  for (const [i, [name, [problem]]] of Object.entries(tamperedRooms).entries()) {
    const ours = await problemOf(new LineReader(keys), rooms[i]!)
    assert.deepEqual([ours.split(' ')[0], theirs[i]], [problem, ours], name)
  }
  const alone = await readInPython(rooms[0]!)
  assert.deepEqual([alone.code, alone.problem], [1, theirs[0]])
})

const asMember = ['--listed', room, owner.signing.thumbprint, exported.member]
const memberReader = () => new ListedReader({ room, owner: owner.signing.thumbprint, device: member })

test('a reader in Python reads a room with a list of devices as ours does', { skip }, async () => {
  const { lines } = await openRekeyed()
  const pages = [await pageOf(lines.slice(0, 3)), await pageOf(lines.slice(3), {}, 3)]
  const ours = memberReader()
  const entries = [...(await ours.take(pages[0]!)), ...(await ours.take(pages[1]!))]
  const { code, messages, problem } = await readInPython(pages, asMember)
  assert.deepEqual([code, problem], [0, ''])
  assert.deepEqual(messages, shownByOurs(entries, lines, ours))
  assert.ok(
    entries.some(({ author }) => author.key === member.signing.thumbprint),
    'the member has written',
  )
})

/** Each message with its generation, and how its author is known. */
function shownByOurs(entries: readonly Entry[], lines: readonly string[], { facts }: ListedReader): object[] {
  return entries.map(({ seq, id, at, message, author: { key = '' } }) => {
    const header = (JSON.parse(lines[seq]!) as { protected: string }).protected
    const { generation } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { generation: number }
    const [invited, by] = [facts.invitedAs.get(key), facts.vouchedBy.get(key)]
    const known = { ...(invited !== undefined && { invited }), ...(by !== undefined && { named_by: by }) }
    const agent = facts.hosted.get(key)?.agent
    const hosted = agent !== undefined && { hosted: agent }
    return { seq, id, at, text: message.text, author: key, generation, ...known, ...hosted }
  })
}

test('a reader in Python knows a second device by the one that has named it', { skip }, async () => {
  const { lines } = await openWithSecondDevice()
  const ours = memberReader()
  const pages = [await pageOf(lines)]
  const entries = await ours.take(pages[0]!)
  const { code, messages, problem } = await readInPython(pages, asMember)
  assert.deepEqual([code, problem], [0, ''])
  assert.deepEqual(messages, shownByOurs(entries, lines, ours))
  const { invited, named_by: by } = messages.at(-1) as { invited: string; named_by: string }
  assert.deepEqual([invited, by], ['grace@example.org', member.signing.thumbprint])
})

for (const [name, { open: openContested, shown }] of Object.entries({ ...contestedDevices, ...returningDevices })) {
  test(`a reader in Python and ours agree whose device it is: ${name}`, { skip }, async () => {
    const { lines } = await openContested()
    const ours = memberReader()
    const pages = [await pageOf(lines)]
    const found: object[] = []
    // A later line may change what is known of an author.
    for (const [at, line] of lines.entries())
      found.push(...shownByOurs(await ours.take(await pageOf([line], {}, at)), lines, ours))
    const { code, messages, problem } = await readInPython(pages, asMember)
    const notices = ours.summary.agents.map((agent) => `the operator of ${agent} can read along`)
    assert.deepEqual([code, problem], [0, notices.join()])
    assert.deepEqual(messages, found)
    const offered = await readInPython(pages, ['--offered', ...asMember.slice(1)])
    assert.deepEqual(offered.messages.map((one) => (one as { device: string }).device).toReversed(), ours.vouched)
    if (!shown) return
    const { invited, named_by: by } = messages.at(-1) as { invited: string; named_by?: string }
    assert.deepEqual([invited, by], [shown.invited, shown.named_by])
  })
}

test('a reader in Python says whose operator can read along, and which messages are the agent’s', { skip }, async () => {
  const { code, messages, problem } = await readInPython([await pageOf((await openHosted()).lines)], asMember)
  assert.deepEqual([code, problem], [0, `the operator of ${hostedAgent} can read along`])
  assert.deepEqual(
    messages.map((message) => (message as { hosted?: string }).hosted),
    [undefined, undefined, hostedAgent],
  )
})

async function problemOf(reader: Pick<LineReader | ListedReader, 'take'>, pages: readonly object[]): Promise<string> {
  try {
    for (const page of pages) await reader.take(page as never)
    return ''
  } catch (error) {
    const { problem, seq } = error as { problem: string; seq: number }
    return `${problem} ${seq}`
  }
}

test('a reader in Python names each tampered room with a list as ours does, and the same line', { skip }, async () => {
  const tampered = { ...tamperedListedRooms, ...tamperedHostedRooms, ...tamperedSecondDevices, ...tamperedSpellings }
  const rooms = await Promise.all(Object.values(tampered).map(([, makePages]) => makePages()))
  const ours = await mapConcurrently(rooms, 4, (pages) => problemOf(memberReader(), pages))
  const [, ...device] = asMember
  const theirs = execFileSync(python!, [program, '--listed-each', ...device], { input: JSON.stringify(rooms), encoding: 'utf8' })
  const names = Object.keys(tampered)
  const byName = (problems: string[]) => Object.fromEntries(names.map((name, i) => [name, problems[i]]))
  assert.deepEqual(byName(theirs.trimEnd().split('\n')), byName(ours))
})

async function openWithFarewell(): Promise<Store> {
  const store = await open(3)
  await store.say('bye', { record: { t: 'farewell', link: `harbour~${secret.mk}` } })
  await store.say('late', { record: { name: 'Ada', reply_to: 'm1' } })
  return store
}

const contested = Object.values({ ...contestedDevices, ...returningDevices })
for (const [kind, honest, isListed] of [
  ['open', [() => open(4), openWithFarewell], false],
  ['with a list', [openRekeyed, openWithSecondDevice, openTwoStays, ...contested.map((one) => one.open)], true],
] as const)
  test(`a reader in Python and ours name the same problem in 600 rooms ${kind} that differ in one thing`, { skip }, async () => {
    const random = seeded(600)
    const stores = await Promise.all(honest.map((openHonest) => openHonest()))
    const rooms = await mapConcurrently([...Array(600).keys()], 1, (i) => {
      const { lines, sealed } = stores[i % stores.length]!
      return mutateRoom({ lines, sealed, isListed }, random)
    })
    const ours = await mapConcurrently(rooms, 4, ({ pages }) =>
      problemOf(isListed ? memberReader() : new LineReader(keys), pages),
    )
    const [, ...device] = asMember
    const arguments_ = isListed ? ['--listed-each', ...device] : ['--each', secret.room, secret.mk]
    const input = JSON.stringify(rooms.map(({ pages }) => pages))
    const theirs = execFileSync(python!, [program, ...arguments_], { input, encoding: 'utf8' }).split('\n')
    for (const [i, { how }] of rooms.entries()) assert.equal(theirs[i], ours[i], how)
    assert.ok(new Set(ours.map((problem) => problem.split(' ')[0])).size > 10)
  })

test(
  'a reader in Python accepts an unknown device as removed, a name of 80 characters and 64 levels, as ours does',
  { skip },
  async () => {
    for (const pages of [await openWithUnknownRevoked(), await openWithLongName(), await openAsDeepAsAllowed()]) {
      const { code, problem } = await readInPython(pages, asMember)
      assert.deepEqual([code, problem], [0, ''])
    }
  },
)

test('a reader in Python judges ID tokens by the keys that the owner has sealed, as ours does', { skip }, async () => {
  const provider = await createTestProvider({ audience: 'spaces' })
  const store = await openListed()
  const [ownerKey, memberKey] = [owner.signing.thumbprint, member.signing.thumbprint]
  const { kid, n = '', e = '' } = provider.publicJwk
  const issuers = [{ issuer: provider.issuer, keys: [{ kty: 'RSA' as const, ...(kid !== undefined && { kid }), n, e }] }]
  const at = new Date().toISOString()
  const sealing = async (by: RoomDevice, claims: object) =>
    store.write({ t: 'identity', at, id_token: await provider.sign({ ...claims }) }, { by })
  await sealing(owner, { email: 'ada@example.org', nonce: ownerKey })
  await sealing(member, { email: 'Grace@example.org', nonce: memberKey })
  await store.change({ issuers })
  const page = await pageOf(store.lines)
  const reader = memberReader()
  await reader.take(page)
  const unreachable = new TokenJudge(
    { issuer: provider.issuer, clientId: 'spaces' },
    { fetchJson: () => Promise.reject(new Error('no network')) },
  )
  const ours = await Promise.all(
    [ownerKey, memberKey].map(async (key) => {
      const standing = await unreachable.judge(reader.device(key), reader.issuers)
      return [key, standing.ok ? standing.email : standing.reason]
    }),
  )
  const arguments_ = ['--tokens', ...asMember.slice(1), provider.issuer]
  const { messages } = await readInPython([page], [...arguments_, 'spaces'])
  assert.deepEqual(messages, ours)
  assert.deepEqual(ours, [
    [ownerKey, 'ada@example.org'],
    [memberKey, 'grace@example.org'],
  ])
  const others = await readInPython([page], [...arguments_, 'another client'])
  assert.deepEqual(
    others.messages.map((found) => (found as string[])[1]),
    ['token: bad_aud', 'token: bad_aud'],
  )
})

/** Tokens that two readers could judge differently: what is signed as header and payload, and the reason of both. */
async function signedTokens(): Promise<{
  jwk: ProviderJwk
  issuer: string
  tokens: Record<string, [reason: string, token: string]>
}> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...(publicKey.export({ format: 'jwk' }) as { n: string; e: string }), kty: 'RSA' as const, kid: 'k1' }
  const issuer = 'https://id.example'
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: issuer,
    aud: 'spaces',
    sub: 's',
    nonce: 'n',
    iat: now,
    exp: now + 600,
    email: 'a@example.org',
    email_verified: true,
  }
  const encode = (value: object | string | Buffer) =>
    Buffer.from(typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value)).toString('base64url')
  const token = (header: object | string, payload: object | string | Buffer, raw = encode(payload)) => {
    const head = encode(typeof header === 'string' ? header : { alg: 'RS256', kid: 'k1', ...header })
    const signature = sign('sha256', Buffer.from(`${head}.${raw}`), privateKey).toString('base64url')
    return `${head}.${raw}.${signature}`
  }
  const of = (change: object) => token({}, { ...claims, ...change })
  const text = JSON.stringify(claims)
  const nested = (depth: number) => `{"x":${'['.repeat(depth)}${']'.repeat(depth)},${text.slice(1)}`
  const tokens: Record<string, [string, string]> = {
    honest: ['ok', of({})],
    'sub of 255': ['ok', of({ sub: 'x'.repeat(255) })],
    'sub of 256': ['malformed', of({ sub: 'x'.repeat(256) })],
    'sub of 128 astral characters, which are 256 code units': ['malformed', of({ sub: '😀'.repeat(128) })],
    'sub of 127 astral characters': ['ok', of({ sub: '😀'.repeat(127) })],
    'no sub': ['malformed', of({ sub: '' })],
    'sub is a number': ['malformed', of({ sub: 7 })],
    'nonce is a number': ['malformed', of({ nonce: 5 })],
    'nonce is empty': ['malformed', of({ nonce: '' })],
    'exp is text': ['malformed', of({ exp: String(now + 600) })],
    'exp is true': ['malformed', of({ exp: true })],
    'exp is infinite': ['malformed', token({}, text.replace(/"exp":\d+/, '"exp":1e400'))],
    'exp has 400 digits': ['malformed', token({}, text.replace(/"exp":\d+/, `"exp":${'9'.repeat(400)}`))],
    'exp is a fraction': ['ok', of({ exp: now + 600.5 })],
    'nbf is null': ['malformed', of({ nbf: null })],
    'nbf in the future': ['not_yet_valid', of({ nbf: now + 300 })],
    'an unused number of 5,000 digits': ['ok', token({}, `{"big":${'9'.repeat(5_000)},${text.slice(1)}`)],
    'azp of another client': ['bad_aud', of({ azp: 'other' })],
    'azp is null': ['bad_aud', of({ azp: null })],
    'two clients without azp': ['bad_aud', of({ aud: ['spaces', 'x'] })],
    'two clients with azp': ['ok', of({ aud: ['spaces', 'x'], azp: 'spaces' })],
    'one client in a list': ['ok', of({ aud: ['spaces'] })],
    'a list of clients with a number': ['bad_aud', of({ aud: ['spaces', 7], azp: 'spaces' })],
    'a list of clients with an empty text': ['bad_aud', of({ aud: ['spaces', ''], azp: 'spaces' })],
    'no client': ['bad_aud', of({ aud: [] })],
    crit: ['malformed', token({ crit: [] }, claims)],
    'crit is null': ['malformed', token({ crit: null }, claims)],
    b64: ['malformed', token({ b64: true }, claims)],
    'kid is null': ['malformed', token({ kid: null }, claims)],
    'kid is a number': ['malformed', token({ kid: 1 }, claims)],
    'no kid, and one key': ['ok', token('{"alg":"RS256"}', claims)],
    'kid is empty': ['bad_signature', token({ kid: '' }, claims)],
    'typ in other capitals': ['ok', token({ typ: 'Application/JWT' }, claims)],
    'typ is null': ['malformed', token({ typ: null }, claims)],
    'typ is empty': ['malformed', token({ typ: '' }, claims)],
    'typ of another token': ['malformed', token({ typ: 'at+jwt' }, claims)],
    'header with a name twice': ['malformed', token('{"alg":"RS256","kid":"k1","alg":"RS256"}', claims)],
    'header is a list': ['malformed', token('[]', claims)],
    'header with a byte order mark': ['malformed', token('\ufeff{"alg":"RS256","kid":"k1"}', claims)],
    'header with NaN': ['malformed', token('{"alg":"RS256","kid":"k1","x":NaN}', claims)],
    'alg none': ['bad_signature', token({ alg: 'none' }, claims)],
    'no payload': ['malformed', token({}, '', '')],
    'payload that is not base64url': ['malformed', token({}, '', '!')],
    'payload with a stray bit': ['malformed', token({}, '', 'e31')],
    'payload is a list': ['malformed', token({}, '[]')],
    'payload with a name twice': ['malformed', token({}, `{"sub":"x",${text.slice(1)}`)],
    'payload with __proto__': ['malformed', token({}, `{"__proto__":1,${text.slice(1)}`)],
    'payload with a lone surrogate': ['malformed', token({}, `{"x":"\\ud83d",${text.slice(1)}`)],
    'payload with NUL': ['malformed', token({}, `{"x":"\\u0000",${text.slice(1)}`)],
    'payload in UTF-16': ['malformed', token({}, Buffer.from(text, 'utf16le'))],
    'payload 64 deep': ['ok', token({}, nested(63))],
    'payload 65 deep': ['malformed', token({}, nested(64))],
    'four parts': ['malformed', `${of({})}.x`],
    'two parts': ['malformed', of({}).split('.').slice(0, 2).join('.')],
    'signature with padding': ['bad_signature', `${of({})}=`],
    'empty signature': ['bad_signature', of({}).replace(/[^.]*$/, '')],
    'not a token, but text of 16,384 characters': ['malformed', '😀'.repeat(16_384)],
    'address in capitals with spaces': ['ok', of({ email: ' A@Example.ORG ' })],
    'address with a Kelvin sign': ['unverified_email', of({ email: '\u212a@example.org' })],
    'address without a domain': ['unverified_email', of({ email: 'a@' })],
    'address with two dots': ['unverified_email', of({ email: 'a..b@example.org' })],
    'address of letters of other scripts': ['ok', of({ email: 'größe@exämple.org' })],
    'address with a hyphen at the end': ['unverified_email', of({ email: 'a@example-.org' })],
    'address that is not verified': ['unverified_email', of({ email_verified: 'true' })],
  }
  return { jwk, issuer, tokens }
}

type ProviderJwk = { kty: 'RSA'; kid: string; n: string; e: string }

test('a reader in Python and ours reject the same tokens for the same reasons', { skip }, async () => {
  const { jwk, issuer, tokens } = await signedTokens()
  const keys = [jwk].map(({ kty, kid, n, e }) => ({ kty, kid, n, e }))
  const judge = `
import json, sys, time
sys.path.insert(0, sys.argv[1])
from client_sealed_reader import check_claims, read_token
given = json.load(sys.stdin)
def reason(token):
    claims, problem = read_token(token, given["keys"])
    return problem or check_claims(claims, given["issuer"], "spaces", time.time()) or "ok"
print(json.dumps([reason(token) for token in given["tokens"]]))`
  const given = { keys, issuer, tokens: Object.values(tokens).map(([, token]) => token) }
  const printed = execFileSync(python!, ['-B', '-c', judge, dirname(program)], { input: JSON.stringify(given), encoding: 'utf8' })
  const theirs = JSON.parse(printed) as string[]
  for (const [i, [name, [reason, token]]] of Object.entries(tokens).entries()) {
    const found = await checkIdToken(token, { issuer, audience: 'spaces', nowMs: Date.now(), keys })
    const ours = typeof found === 'string' ? found : 'ok'
    assert.deepEqual({ ours, theirs: theirs[i] }, { ours: reason, theirs: reason }, name)
  }
})
