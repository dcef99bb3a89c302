import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { openApiDocument } from '../packages/contract/src/openapi.ts'
import type { Operation } from '../packages/contract/src/operation.ts'
import { operations } from '../packages/contract/src/table.ts'

// Installed separately, because they need another TypeScript version and 60 MB.
const generators = fileURLToPath(new URL('generators/node_modules', import.meta.url))
const skip = existsSync(generators) ? false : 'the generators are not installed: npm ci --prefix tests/generators'
const run = promisify(execFile)
const origin = 'http://api.harbour.example'

/** Example calls of the document's operations, and the URL that each must request. */
function callsOf(full: boolean) {
  const shown = Object.values<Operation>(operations).filter((op) => full || (op.status === 'live' && !op.unpublished))
  return shown.map((op) => {
    const names = [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    const version = op.status === 'legacy' || op.becomes === 'legacy' ? '' : '/v1'
    const path = names.reduce((path, name) => path.replace(`{${name}}`, `${name}-1`), version + op.path)
    return {
      ...op,
      given: op.body ? { body: {} } : {},
      input: Object.fromEntries(names.map((name) => [name, `${name}-1`])),
      address: `${op.method} ${origin}${path}`,
    }
  })
}

for (const full of [false, true]) {
  describe(`clients generated from openapi${full ? '.full' : ''}.json`, { skip, timeout: 120_000 }, () => {
    const calls = callsOf(full)
    let folder: string
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atrium-generated-'))
      await symlink(generators, join(folder, 'node_modules'))
      await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
      await writeFile(join(folder, 'openapi.json'), JSON.stringify(openApiDocument({ full, baseUrl: `${origin}/v1` })))
    })
    after(() => rm(folder, { recursive: true, force: true }))

    /** Compiles the program in strict mode, runs it with a fetch that returns nothing, and returns the requested URLs. */
    async function callAll(program: string): Promise<string[]> {
      await writeFile(join(folder, 'program.ts'), program)
      const options = [
        '--strict',
        '--skipLibCheck',
        '--target',
        'es2022',
        '--module',
        'preserve',
        '--lib',
        'es2023,dom,dom.iterable',
      ]
      const compiler = join(generators, 'typescript/bin/tsc')
      const files = [...options, '--outDir', 'out', '--rewriteRelativeImportExtensions', 'program.ts']
      const compiled = await run(process.execPath, [compiler, ...files], { cwd: folder }).catch(
        (error: { stdout: string }) => error,
      )
      assert.equal(compiled.stdout, '')
      const { build } = await import('esbuild')
      const outfile = join(folder, `program-${Date.now()}.mjs`)
      const entryPoints = [join(folder, 'program.ts')]
      await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' })
      const { main } = (await import(pathToFileURL(outfile).href)) as { main: (fetch: unknown) => Promise<void> }
      const called: string[] = []
      await main(async (input: Request | string, init?: RequestInit) => {
        const request = new Request(input, init)
        called.push(`${request.method} ${request.url.replace(/\?.*$/, '')}`)
        return new Response('{}', { headers: { 'content-type': 'application/json' } })
      })
      return called
    }

    test('openapi-typescript: the types compile, and every call requests its URL', async () => {
      const cli = join(generators, 'openapi-typescript/bin/cli.js')
      await run(process.execPath, [cli, 'openapi.json', '-o', 'schema.ts'], { cwd: folder })
      const lines = calls.map(({ method, path, status, becomes, input, given }) => {
        const version = full && status !== 'legacy' && becomes !== 'legacy' ? '/v1' : ''
        return `  await client.${method}('${version}${path}', ${JSON.stringify({ params: { path: input }, ...given })} as never)`
      })
      const { servers } = openApiDocument({ full, baseUrl: `${origin}/v1` }) as { servers: { url: string }[] }
      const called = await callAll(`import createClient from 'openapi-fetch'
import type { paths } from './schema.ts'
export async function main(fetch: (request: Request) => Promise<Response>): Promise<void> {
  const client = createClient<paths>({ baseUrl: '${servers[0]!.url}', fetch })
${lines.join('\n')}
}
`)
      assert.deepEqual(
        called,
        calls.map(({ address }) => address),
      )
    })

    test('hey-api: there is a function for each operation id, which requests its URL', async () => {
      const cli = join(generators, '@hey-api/openapi-ts/bin/run.js')
      const args = [cli, '-i', 'openapi.json', '-o', 'sdk', '-s', '--no-log-file']
      await run(process.execPath, args, { cwd: folder })
      const lines = calls.map(
        ({ id, input, given }) => `  await begin(await sdk.${id}(${JSON.stringify({ path: input, ...given })} as never))`,
      )
      const called = await callAll(`import * as sdk from './sdk'
import { client } from './sdk/client.gen'
// The request of a stream is sent when its first event is asked for.
const begin = async (answer: unknown) => {
  if (typeof answer === 'object' && answer && 'stream' in answer) await (answer.stream as AsyncGenerator).next()
}
export async function main(fetch: typeof globalThis.fetch): Promise<void> {
  client.setConfig({ fetch })
${lines.join('\n')}
}
`)
      assert.deepEqual(
        called,
        calls.map(({ address }) => address),
      )
    })
  })
}
