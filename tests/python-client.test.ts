import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { certificateKey, validCertificate } from '../packages/server/testing/loopback-certificates.ts'
import { findRfc9474 } from '../packages/server/testing/rfc9474.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { packPython } from '../scripts/pack/wheel.ts'
import { freePort, startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { askGood, makeTenant } from './support/call-api.ts'
import { fundIssuer } from './support/fund-issuer.ts'
import { findProgram, skipWithout } from './support/skip-without.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const tests = join(root, 'packages/python/tests')
const python = findProgram('python3')
const skip = skipWithout('python3')
const vector = findRfc9474()?.find(({ name }) => name === 'RSABSSA-SHA384-PSS-Randomized')
const skipSealed = skip || (hasCryptography() ? false : 'no cryptography here: apt-get install python3-cryptography')

function hasCryptography(): boolean {
  try {
    execFileSync(python!, ['-c', 'import cryptography'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('the Python client', { skip, concurrency: 3, timeout: 120_000 }, () => {
  let database: TestDatabase
  let atrium: AtriumProcess
  let folder: string
  let wheel: string
  let settings: Record<string, string>

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atrium-python-'))
    const { file, bytes } = await packPython(root)
    wheel = join(folder, file)
    await writeFile(wheel, bytes)
    database = await createTestDatabase()
    const port = await freePort()
    // The development sign-in, for rooms with a list.
    const oidc = { OIDC_ISSUER: `http://localhost:${port}/dev-identity`, OIDC_CLIENT_ID: 'atrium-dev' }
    const env = { ATRIUM_EGRESS: 'loopback', ...oidc }
    atrium = await startAtrium({ databaseUrl: database.url, space: true, port, env })
    const { secret } = await makeTenant(atrium.origin)
    await fundIssuer(atrium.origin, secret, 100)
    const issuer = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey
    const { n, e } = issuer.export({ format: 'jwk' }) as { n: string; e: string }
    await askGood(atrium.origin, 'POST /v1/epochs', { key: secret, body: { public_key: { kty: 'RSA', n, e }, value: 10 } })
    const certificate = join(folder, 'tls.pem')
    await writeFile(certificate, certificateKey + validCertificate)
    settings = {
      ATRIUM_URL: `${atrium.origin}/v1`,
      ATRIUM_KEY: secret,
      SPACE_URL: `${atrium.origin}/v1/space`,
      SPACES_ORIGIN: atrium.spacesOrigin,
      TLS_CERTIFICATE: certificate,
      ISSUER_KEY: JSON.stringify(issuer.export({ format: 'jwk' })),
      RFC9474_VECTOR: JSON.stringify(vector ?? null),
      WEBHOOK_VECTORS: JSON.stringify(webhookVectors()),
    }
  })
  after(async () => {
    await atrium?.end('SIGKILL')
    await database?.drop()
    await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
  })

  /** Imports the client from the wheel alone, as a user without pip would. Returns what was printed. */
  function run(...args: string[]): Promise<string> {
    const env = {
      PATH: process.env['PATH'],
      PYTHONPATH: `${wheel}:${tests}`,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONUTF8: '1',
      ...settings,
    }
    return new Promise((resolve, reject) => {
      execFile(python!, ['-W', 'error', ...args], { cwd: folder, env, timeout: 60_000 }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${stdout}${stderr}`, { cause: error }))
        else resolve(`${stdout}${stderr}`)
      })
    })
  }

  async function assertPasses(...names: string[]): Promise<void> {
    assert.match(await run('-m', 'unittest', ...names), /^Ran \d\d?\d? tests? in [^]*^OK$/m)
  }

  // In one process, because each process compiles the client again.
  test('retries, limits and reports as it says, reads streams as they come, verifies webhooks', () =>
    assertPasses('test_calls', 'test_streams', 'test_webhooks'))
  test('lists, follows streams and raises errors against a running server', () => assertPasses('test_live'))
  test('makes blind tokens, and redeems them', () => assertPasses('test_blind_tokens.BlindTokens'))
  test('makes the token of RFC 9474', { skip: vector ? false : '../shared/vectors is not there' }, () =>
    assertPasses('test_blind_tokens.Vectors'),
  )
  test('talks in rooms', () => assertPasses('test_rooms.Rooms', 'test_rooms.Stubbed', 'test_rooms.Chains'))
  test('proves messages, and opens and checks histories', { skip: skipSealed }, () =>
    assertPasses('test_rooms.Sealed', 'test_rooms.Lists'),
  )

  test('loads nothing of cryptography until it is needed', async () => {
    assert.equal(await run('-c', "import sys, atrium; print('cryptography' in sys.modules)"), 'False\n')
  })

  test('the examples of its README run, and print what they say', { skip: skipSealed }, async () => {
    const readme = await readFile(join(root, 'packages/python/README.md'), 'utf8')
    const blocks = [...readme.matchAll(/^```py\n([^]*?)^```$/gm)].map(([, code]) => code!)
    assert.ok(blocks.length > 4)
    const promised = blocks.flatMap((code) => [...code.matchAll(/^ *print\(.*\) {2}# (.*)$/gm)].map(([, says]) => says))
    const { secret } = await makeTenant(atrium.origin)
    await copyFile(join(root, 'docs/images/share-page-phone.png'), join(folder, 'lantern.png'))
    const issuer = 'from test_blind_tokens import PUBLIC, epoch_of, sign as ask_your_issuer\nepoch = epoch_of(PUBLIC)\n'
    const program = [issuer, ...blocks].join('\n').replaceAll('http://localhost:8787', atrium.origin).replaceAll('wsk_…', secret)
    const printed = await run('-c', program)
    assert.deepEqual(printed.trimEnd().split('\n'), promised)
  })

  test('its package says the same as pyproject.toml, and is the same each time', async () => {
    const project = await readFile(join(root, 'packages/python/pyproject.toml'), 'utf8')
    const metadata = await run(
      '-c',
      "from importlib.metadata import metadata as m; d = m('atrium-client'); print([d[k] for k in ('Name', 'Version', 'Summary', 'License-Expression', 'Requires-Python', 'Requires-Dist')])",
    )
    const said = (name: string) => new RegExp(`^${name} = \\[?"(.*?)"`, 'm').exec(project)![1]!
    const expected = [
      ...['name', 'version', 'description', 'license', 'requires-python'].map(said),
      `${said('rooms')}; extra == "rooms"`,
    ]
    assert.equal(metadata.replaceAll("'", '"').trim(), JSON.stringify(expected).replaceAll('","', '", "').replaceAll('\\"', '"'))
    const version: string = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')).version
    assert.equal(said('version'), version)
    for (const file of ['packages/python/README.md', 'docs/guides/python.md'])
      assert.match(await readFile(join(root, file), 'utf8'), new RegExp(`/downloads/atrium_client-${version}-py3-none-any.whl`))
    assert.deepEqual((await packPython(root)).bytes, await readFile(wheel))
  })
})

/** Signatures that the official package makes, and ones that it refuses. */
function webhookVectors() {
  const [secret, other] = [1, 2].map(() => `whsec_${randomBytes(24).toString('base64')}`) as [string, string]
  const id = 'evt_4fRzK0vXcB1mQwErTy7uPa'
  const payload = JSON.stringify({ id, type: 'collection.deleted', data: { collection_id: 'col_ünïcode 日本 🎉' } })
  const signed = (by: string, at = new Date()) => ({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign(id, at, payload),
  })
  const both = `${signed(other)['webhook-signature']} ${signed(secret)['webhook-signature']}`
  const vector = (name: string, reason: string | null, headers: object, text = payload) => ({
    name,
    id,
    reason,
    headers,
    payload: text,
    secrets: [secret],
  })
  return [
    vector('signed', null, signed(secret)),
    vector('signed by two', null, { ...signed(secret), 'webhook-signature': both }),
    vector('by another', 'bad_signature', signed(other)),
    vector('altered', 'bad_signature', signed(secret), payload.replace('deleted', 'updated')),
    vector('old', 'too_old', signed(secret, new Date(Date.now() - 301_000))),
    vector('of the future', 'too_new', signed(secret, new Date(Date.now() + 400_000))),
  ]
}
