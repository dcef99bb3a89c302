import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { after, before, test } from 'node:test'
import { build } from 'esbuild'
import { blindSign } from '../packages/client/src/blind-sign.ts'
import { createClient } from '../packages/client/src/create-client.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { skipWithoutChromium, startTestBrowser, startTestServer } from '../packages/web/src/testing/start-test-browser.ts'
import { packClient } from '../scripts/pack/packages.ts'
import { startAtrium, type AtriumProcess } from './support/atrium-process.ts'
import { makeTenant } from './support/call-api.ts'
import { fundIssuer } from './support/fund-issuer.ts'
import { programOf, readExamples } from './support/readme-examples.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)
const examples = readExamples()
const forBrowsers = examples.filter(({ isNode }) => !isNode)

const given = { epoch: 'string', recovery_key: 'Record<string, string>', askYourIssuer: '(blinded: string) => Promise<string>' }
const givenInNode = { ...given, privateKey: "import('node:crypto').KeyObject", blinded: 'string' }

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })

let database: TestDatabase
let atrium: AtriumProcess
let folder: string
let reader: { epoch: string; recovery_key: object; askYourIssuer: (blinded: string) => Promise<string> }
/** The placeholders of the README, and the values that a reader would use. */
let settings: [string, string][]

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-readme-'))
  await installClient()
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url, space: true })
  const { secret, publishable } = await makeTenant(atrium.origin)
  await fundIssuer(atrium.origin, secret, 1_000)
  const client = createClient({ baseUrl: atrium.origin, key: secret })
  const manifest = { name: 'Echo', description: 'Echoes.', instructions: '', price_credits: 1, max_minutes: 5 }
  const { id: agentId } = (await client.registerAgent({ body: manifest })).data
  await client.setAgentStatus({ agentId, body: { status: 'private' } })
  const jwk = publicKey.export({ format: 'jwk' }) as { kty: 'RSA'; n: string; e: string }
  const { epoch } = (await client.publishEpoch({ body: { public_key: jwk, value: 10 } })).data
  reader = {
    epoch,
    recovery_key: { kty: 'EC', crv: 'P-256', x, y },
    askYourIssuer: async (blinded) => blindSign(privateKey, blinded),
  }
  settings = [
    ['http://localhost:8787', atrium.origin],
    ['wpk_…', publishable],
    ['wsk_…', secret],
    ['agt_…', agentId],
    ['whsec_…', `whsec_${Buffer.from('a secret of the webhook').toString('base64')}`],
  ]
})

after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
  await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
})

/** The installed package and the types of Node, and nothing else of this folder. */
async function installClient(): Promise<void> {
  const { files } = await packClient(root)
  for (const [path, content] of Object.entries(files)) {
    const target = join(folder, 'node_modules/@atrium/client', path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, content)
  }
  await symlink(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'))
}

/** Writes the program with the reader's own settings. Returns its path. */
async function write(name: string, program: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(
    path,
    settings.reduce((text, [placeholder, value]) => text.replaceAll(placeholder, value), program),
  )
  return path
}

interface Told {
  headings: string[]
  checks: [string, string][]
}

function assertAll({ headings, checks }: Told, run: typeof examples): void {
  assert.deepEqual(
    headings,
    run.slice(1).map(({ heading }) => heading),
  )
  const promised = run.flatMap(({ code }) => [...code.matchAll(/^.*console\.log\(.*\) \/\/ /gm)])
  assert.ok(promised.length > 4)
  assert.equal(checks.length, promised.length, 'each line that says what it prints was reached, once')
  for (const [printed, says] of checks) assert.equal(printed, says)
}

test('the examples of the client’s README compile as they stand', async () => {
  await write('examples.ts', programOf(examples, givenInNode))
  await write('browser.ts', programOf(forBrowsers, given))
  const options = { noUnusedLocals: false, noUnusedParameters: false, types: ['node'] }
  const config = { extends: join(root, 'tsconfig.json'), compilerOptions: options, include: ['*.ts'] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiled = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch((error: { stdout: string }) => error)
  assert.ok(compiled.stdout === '', compiled.stdout)
})

test('they run in Node, and print what they say', async (t) => {
  const told: Told = { headings: [], checks: [] }
  const readme = {
    ...reader,
    privateKey,
    blinded: Buffer.alloc(256, 1).toString('base64url'),
    begin: (heading: string) => void told.headings.push(heading),
    check: (value: unknown, expected: string) => void told.checks.push([String(value), expected]),
  }
  Object.assign(globalThis, { readme })
  t.after(() => Reflect.deleteProperty(globalThis, 'readme'))
  const path = await write('node.ts', programOf(examples, givenInNode))
  await import(pathToFileURL(path).href)
  assertAll(told, examples)
})

test('those for browsers run in Chromium, and print what they say', { skip: skipWithoutChromium }, async (t) => {
  const path = await write('page.ts', programOf(forBrowsers, given))
  const bundled = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    tsconfigRaw: '{}',
    logLevel: 'silent',
  })
  const server = await startTestServer((req, res) => {
    const isScript = req.url === '/program.js'
    res.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    res.end(isScript ? bundled.outputFiles[0]!.contents : '<!doctype html><title>An app</title>')
  })
  t.after(server.stop)
  const browser = await startTestBrowser()
  t.after(() => browser.close())
  const page = await browser.newPage()
  await page.exposeFunction('askYourIssuer', reader.askYourIssuer)
  await page.goto(server.origin)
  const told = await page.evaluate<Told>(`(async () => {
    const told = { headings: [], checks: [] }
    globalThis.readme = {
      ...${JSON.stringify(reader)},
      askYourIssuer,
      begin: (heading) => told.headings.push(heading),
      check: (value, expected) => told.checks.push([String(value), expected]),
    }
    await import('/program.js')
    return told
  })()`)
  assertAll(told, forBrowsers)
})
