import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build, transform } from 'esbuild'
import { servedOperations } from '../packages/contract/src/table.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/testing/test-database.ts'
import { packPython } from '../scripts/pack/wheel.ts'
import { startAtrium, adminToken, type AtriumProcess } from './support/atrium-process.ts'
import { makeTenant } from './support/call-api.ts'
import { closeClients, connectStdio } from './support/mcp-client.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)
/** The npm that runs the tests. */
const npm = process.env['npm_execpath']
const skip = npm?.endsWith('.js') ? false : 'run by something else than npm: npm test installs packages'
const timeout = 60_000

let database: TestDatabase
let atrium: AtriumProcess
let keys: { secret: string; publishable: string }
/** The folder of an app, outside this one, with only what it installs. */
let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atrium-app-'))
  await writeFile(join(folder, 'package.json'), '{ "name": "an-app", "private": true, "type": "module" }')
  database = await createTestDatabase()
  atrium = await startAtrium({ databaseUrl: database.url })
  keys = await makeTenant(atrium.origin)
})
after(async () => {
  await atrium?.end('SIGKILL')
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

/** All Node versions on this machine that the packages support: the project's and the machine's own. */
const nodes = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter((path) => existsSync(path))

const app = `
import { createClient, paginate, StateConflictError, verifyWebhook, type AtriumEvent } from '@atrium/client'
import { createClient as alone } from '@atrium/client/create-client'
import { prepareToken } from '@atrium/client/blind-token'
import type { useItems, useOwnerItems, useRoom } from '@atrium/client/react'

export async function main(baseUrl: string, key: string): Promise<string[]> {
  const atrium = createClient({ baseUrl, key })
  const { data: made } = await atrium.createCollection({ body: { metadata: { share_title: 'Lantern night' } } })
  const id: string = made.id
  await atrium.addItem({ id, body: { type: 'message', content: { text: 'Hello' }, author: 'Ada' } })
  const texts: string[] = []
  for await (const item of paginate(atrium.listItems, { id, collectionToken: made.admin_token })) {
    if (item.author) texts.push(item.author)
  }
  const state: 'open' | 'ready' | 'closed' = (await alone({ baseUrl, key }).getCollection({ id })).data.state
  texts.push(state)
  await atrium.setCollectionState({ id, collectionToken: made.admin_token, body: { state: 'closed' } })
  try {
    await atrium.setCollectionState({ id, collectionToken: made.admin_token, body: { state: 'open' } })
  } catch (error) {
    if (error instanceof StateConflictError) texts.push(error.code)
  }
  return texts
}
export const told = (event: AtriumEvent) => (event.type === 'item.created' ? event.data.item_id : undefined)
export const others = { verifyWebhook, prepareToken }
export type Author = ReturnType<typeof useItems>['items'][number]['author']
export type Flag = ReturnType<typeof useOwnerItems>['items'][number]['approved']
export type Text = ReturnType<typeof useRoom>['entries'][number]['message']['text']
`
const wrong = `
import { createClient, type Entry } from '@atrium/client'
const atrium = createClient({ baseUrl: '', key: '' })
// @ts-expect-error -- there is no such member
await atrium.createCollection({ body: { metdata: {} } })
// @ts-expect-error -- the path needs an id
await atrium.getCollection({})
// @ts-expect-error -- only the three states
await atrium.setCollectionState({ id: '', collectionToken: '', body: { state: 'shut' } })
// @ts-expect-error -- there is no such operation
await atrium.createColection()
import type { AgentSession, SessionLaunched, SessionState } from '@atrium/client/remote-agent'
// @ts-expect-error -- no session has such a status
export const status: SessionState['status'] = 'shut'
// @ts-expect-error -- the same, through the agent's session
export const state: Awaited<ReturnType<AgentSession['status']>> = { status: 'shut' }
// @ts-expect-error -- a message of a room has no such member
export const words = (entry: Entry) => entry.message.words
// @ts-expect-error -- the launch has no such member
export const minutes = (launch: SessionLaunched) => launch.minutes
`

describe('packages that an installation serves', { skip, concurrency: false }, () => {
  test('each installs in an empty folder, from its address, with nothing of a registry', { timeout }, async () => {
    const options = ['--no-audit', '--no-fund', '--registry', 'http://127.0.0.1:9']
    for (const readme of ['packages/client', 'packages/cli', 'packages/cli/verify']) {
      const [, address] = /^```sh install\nnpm install (?:--global )?(\S+)\n```$/m.exec(
        await readFile(join(root, readme, 'README.md'), 'utf8'),
      )!
      const url = address!.replace('http://localhost:8787', atrium.origin)
      await run(process.execPath, [npm!, 'install', ...options, url], { cwd: folder })
    }
    assert.deepEqual((await readdir(join(folder, 'node_modules/@atrium'))).toSorted(), ['cli', 'client', 'verify'])
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    for (const name of ['cli', 'client', 'verify']) {
      const place = join(folder, 'node_modules/@atrium', name)
      const manifest = JSON.parse(await readFile(join(place, 'package.json'), 'utf8'))
      assert.equal(manifest.version, version)
      assert.equal(manifest.dependencies, undefined)
      const files = await readdir(place, { recursive: true })
      assert.deepEqual(
        files.filter((path) => /test|(?<!\.d)\.ts$/.test(path)),
        [],
        'JavaScript and declarations only',
      )
      for (const path of ['README.md', 'LICENSE']) assert.ok(files.includes(path), path)
    }
  })

  test('an app type-checks, in strict mode and with the declarations themselves checked', { timeout }, async () => {
    await mkdir(join(folder, 'src'), { recursive: true })
    await writeFile(join(folder, 'src/app.ts'), app)
    await writeFile(join(folder, 'src/wrong.ts'), wrong)
    const manifest = JSON.parse(await readFile(join(folder, 'node_modules/@atrium/client/package.json'), 'utf8'))
    // Without those that have no types, and those that need the types of Node.
    const entries = Object.keys(manifest.exports).filter((entry) => entry !== './package.json' && entry !== './blind-sign')
    const every = entries.map((entry) => `import '@atrium/client${entry.slice(1)}'`)
    await writeFile(join(folder, 'src/every.ts'), `${every.join('\n')}\n`)
    const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true, types: [] }
    const settings = { target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], ...strict }
    for (const module of ['nodenext', 'preserve']) {
      const moduleResolution = module === 'preserve' ? 'bundler' : module
      const config = { compilerOptions: { ...settings, module, moduleResolution }, include: ['src'] }
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
      const checked = await run(join(root, 'node_modules/.bin/tsc'), ['-p', folder]).catch((error: { stdout: string }) => error)
      assert.equal(checked.stdout, '', module)
    }
  })

  test('an editor shows what each method does, its errors and an example', async () => {
    const declared = await readFile(join(folder, 'node_modules/@atrium/client/types/client/src/call.d.ts'), 'utf8')
    for (const { id, sessionOnly } of servedOperations) {
      const [, comment] = new RegExp(String.raw`/\*\*((?:(?!\*/)[^])*)\*/\s+readonly ${id}: Call<`).exec(declared) ?? []
      assert.match(comment ?? '', new RegExp(String.raw`Credential: [^]+@example\n[^]+await atrium\.${id}\(`), id)
      assert.equal(/Credential: a session of the console .*; no key/.test(comment ?? ''), sessionOnly === true, id)
    }
  })

  test('it runs in Node, the machine’s older one too', { timeout }, async () => {
    const { code } = await transform(app, { loader: 'ts' })
    await writeFile(join(folder, 'app.mjs'), code)
    const call = `import { main } from './app.mjs'; console.log((await main(...process.argv.slice(1))).join(' '))`
    for (const node of nodes) {
      const args = ['--input-type=module', '-e', call, atrium.origin, keys.publishable]
      const { stdout } = await run(node, args, { cwd: folder })
      assert.equal(stdout.trim(), 'Ada open state_conflict', node)
    }
  })

  test('esbuild and Vite bundle it for a page: no part of Node, and only what is used', { timeout }, async () => {
    const contents = "import { createClient } from '@atrium/client'; globalThis.atrium = createClient({ baseUrl: '/' })"
    const small = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
      logLevel: 'silent',
    })
    const bytes = small.outputFiles[0]!.contents.length
    assert.ok(bytes > 4_000 && bytes < 19_500, `${bytes} bytes: without rooms and blind tokens`)

    await writeFile(join(folder, 'index.html'), '<!doctype html><script type="module" src="/page.js"></script>')
    await writeFile(join(folder, 'page.js'), "import { main } from './app.mjs'; globalThis.main = main")
    const vite = await import('vite')
    await vite.build({ root: folder, logLevel: 'silent', configFile: false, build: { outDir: 'site', modulePreload: false } })
    const [script] = await readdir(join(folder, 'site/assets'))
    const code = await readFile(join(folder, 'site/assets', script!), 'utf8')
    assert.doesNotMatch(code, /node:|__vite-browser-external/)
    assert.ok(code.includes('/v1/collections'))
  })

  test('the page of downloads shows the hash of each file, and of the verifier that is built from the source', async () => {
    const page = await (await fetch(`${atrium.origin}/downloads`)).text()
    const sums = (await (await fetch(`${atrium.origin}/downloads/SHA256SUMS`)).text()).trim().split('\n')
    assert.equal(sums.length, 11, 'five with and without their version, and the wheel')
    for (const line of sums) {
      const [sum, file] = line.split('  ') as [string, string]
      const content = Buffer.from(await (await fetch(`${atrium.origin}/downloads/${file}`)).arrayBuffer())
      assert.equal(createHash('sha256').update(content).digest('hex'), sum, file)
      assert.ok(page.includes(`<code>${sum}</code>`) && page.includes(`href="/downloads/${file}"`), file)
    }
    const built = join(folder, 'built.mjs')
    await run(process.execPath, [join(root, 'packages/cli/build/build-verify.ts'), built])
    const served = await (await fetch(`${atrium.origin}/downloads/atrium-verify.mjs`)).text()
    assert.equal(await readFile(built, 'utf8'), served)
    const wheel = await fetch(`${atrium.origin}/downloads/${(await packPython(root)).file}`)
    assert.equal(wheel.headers.get('content-type'), 'application/zip')
    const missing = await fetch(`${atrium.origin}/downloads/index.json`)
    assert.equal(missing.status, 404)
  })

  test('an address with a version is cached for good in production; of another version it names the present one', async (t) => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const cacheOf = async (origin: string, file: string) =>
      (await fetch(`${origin}/downloads/${file}`)).headers.get('cache-control')
    const production = await startAtrium({ databaseUrl: database.url, env: { NODE_ENV: 'production' } })
    t.after(() => production.end('SIGKILL'))
    for (const file of [
      `atrium-client-${version}.tgz`,
      `atrium-verify-${version}.mjs`,
      `atrium_client-${version}-py3-none-any.whl`,
    ]) {
      assert.equal(await cacheOf(production.origin, file), 'public, max-age=31536000, immutable', file)
      assert.equal(await cacheOf(atrium.origin, file), 'no-cache', 'its source changes while somebody works on it')
    }
    assert.equal(await cacheOf(production.origin, 'atrium-client.tgz'), 'no-cache')
    for (const older of ['atrium-client-0.0.9.tgz', 'atrium_client-0.0.9-py3-none-any.whl']) {
      const answer = await fetch(`${atrium.origin}/downloads/${older}`)
      assert.equal(answer.status, 404)
      const { error } = (await answer.json()) as { error: { message: string } }
      const present = `${atrium.origin}/downloads/${older.replace('0.0.9', version)}`
      assert.equal(error.message, `This installation has version ${version} of it: ${present}`)
    }
  })

  test('npm pack in a folder of a package says how packages are made', async () => {
    const folders = await readdir(join(root, 'packages'))
    const manifests = folders.map((name) => join(root, 'packages', name, 'package.json')).filter((path) => existsSync(path))
    assert.ok(manifests.length > 10)
    for (const path of manifests)
      assert.match(JSON.parse(await readFile(path, 'utf8')).scripts?.prepack ?? '', /refuse-npm-pack/, path)
    const packed = await run(process.execPath, [npm!, 'pack', '--dry-run'], { cwd: join(root, 'packages/client') }).catch(
      (error: any) => error,
    )
    assert.equal(packed.code, 1)
    assert.match(packed.stderr, /^npm pack and npm publish would take TypeScript source here\. .* npm run pack$/m)
  })

  test(
    'the command line operates the installation from elsewhere, and says that the server is not in it',
    { timeout },
    async () => {
      const atriumBin = join(folder, 'node_modules/.bin/atrium')
      const env = { PATH: process.env['PATH'], ATRIUM_PUBLIC_URL: atrium.origin, ATRIUM_ADMIN_TOKEN: adminToken }
      for (const node of nodes) {
        const audit = await run(node, [atriumBin, 'audit'], { env, cwd: folder })
        assert.match(audit.stdout, /^✓ .* 0 transfers between 0 accounts/, node)
      }
      const start = await run(process.execPath, [atriumBin, 'start'], { env, cwd: folder }).catch((error: any) => error)
      assert.equal(start.code, 1)
      assert.equal(
        start.stderr,
        'atrium: this package does not contain the server. Unpack a release of Atrium or check out its source, and run there: npm ci && npm start\n',
      )
      const help = await run(process.execPath, [join(folder, 'node_modules/.bin/atrium-verify'), '--help']).catch(
        (error: any) => error,
      )
      assert.match(help.stderr, /^usage: /)
    },
  )

  test('a witness of the command line runs until it is stopped, in the machine’s older Node too', { timeout }, async () => {
    const bin = join(folder, 'node_modules/@atrium/cli/bin/atrium.cjs')
    let vkey: Response
    do vkey = await fetch(`${atrium.origin}/log/vkey`)
    while (vkey.status !== 200)
    await writeFile(join(folder, 'logs.txt'), `log ${(await vkey.text()).trim()}\nquorum none\n`)
    for (const [at, node] of nodes.entries()) {
      const where = ['--policy', 'logs.txt', '--data', `witness-${at}`, '--port', '0']
      const witness = spawn(node, [bin, 'witness', '--name', 'witness.example/w1', ...where], { cwd: folder, stdio: 'pipe' })
      let printed = ''
      for (const stream of [witness.stdout, witness.stderr])
        stream.on('data', (chunk) => {
          printed += chunk
          if (printed.includes('witness witness.example/w1 ')) witness.kill()
        })
      const [code] = await once(witness, 'exit')
      assert.equal(code, 0, `${node}: ${printed}`)
    }
  })

  test('the MCP server of the command line answers an AI client, in the machine’s older Node too', { timeout }, async (t) => {
    t.after(closeClients)
    const bin = join(folder, 'node_modules/@atrium/cli/bin/atrium.cjs')
    for (const node of nodes) {
      const mcp = await connectStdio(atrium.origin, { ATRIUM_KEY: keys.secret }, { command: [node, bin] })
      const listed = await mcp.call('list_collections')
      assert.ok(!listed.isError && Array.isArray(listed.data), `${node}: ${listed.text}`)
      assert.match((await mcp.call('search_docs', { query: 'Idempotency-Key' })).data[0].url, /\/docs/)
      await mcp.close()
    }
  })
})

test('an old Node prints which version is needed: every version can parse the entry', async () => {
  const bin = join(root, 'packages/cli/bin')
  const source = await readFile(join(bin, 'atrium.cjs'), 'utf8')
  // A bundler must transform newer syntax for ES5, or fail.
  const [plain, lowered] = await Promise.all(
    (['esnext', 'es5'] as const).map((target) => transform(source, { target, format: 'cjs' })),
  )
  assert.equal(lowered!.code, plain!.code)
  const url = pathToFileURL(join(bin, 'atrium.cjs')).href
  const pretend = `Object.defineProperty(process.versions, 'node', { value: '16.20.2' }); await import(${JSON.stringify(url)})`
  const told = await run(process.execPath, ['--input-type=module', '-e', pretend]).catch((error: any) => error)
  assert.equal(told.code, 1)
  assert.match(
    told.stderr,
    /^atrium: this needs Node 24 or newer, and .* is Node 16\.20\.2\. In the source folder, npm ci installs it/,
  )
})
