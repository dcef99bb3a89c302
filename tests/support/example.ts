import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { until } from './embedded-installation.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))
const run = promisify(execFile)
/** The npm that runs the tests. */
const npm = process.env['npm_execpath'] ?? ''
export const skipWithoutNpm = npm.endsWith('.js') ? false : 'not run by npm: npm test installs packages'

/** A folder outside of this checkout, removed by `remove`. */
export async function makeFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-example-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Copies an example as a person would who takes it out of the checkout, and lets it install from this server. */
export async function copyExample(name: string, folder: string, origin: string): Promise<void> {
  const mayCopy = (path: string) => !/node_modules|guest-book\.json|settings\.js|public\/client/.test(path.slice(examples.length))
  await cp(join(examples, name), folder, { recursive: true, filter: mayCopy })
  const manifest = join(folder, 'package.json')
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('http://localhost:8787', origin))
  await installIn(folder)
}

/** Begins an app in the folder with the command that the server offers, and installs it. */
export async function createApp(folder: string, origin: string, node: string): Promise<void> {
  const npx = ['exec', '--yes', '--registry', 'http://127.0.0.1:9', '--', `${origin}/downloads/atrium-create-app.tgz`]
  const parent = dirname(folder)
  const env = { ...process.env, npm_config_cache: join(parent, '.npm') }
  const { stdout } = await run(node, [npm, ...npx, basename(folder), 'wpk_mine'], { cwd: parent, env })
  assert.match(stdout, /cd my-app\n {2}npm install\n {2}npm start -- wpk_mine\n/)
  await installIn(folder)
  // Here nothing is overwritten.
  await assert.rejects(run(node, [npm, ...npx, basename(folder)], { cwd: parent, env }), /is not empty/)
}

/** `npm install` without a registry: nothing may come from one. */
async function installIn(folder: string): Promise<void> {
  await run(process.execPath, [npm, 'install', '--no-audit', '--no-fund', '--registry', 'http://127.0.0.1:9'], { cwd: folder })
}

export interface RunningExample {
  output: () => string
  end: () => Promise<void>
}

/** `npm start` in the folder, until it has printed what matches. `node` is the one that runs it. */
export async function startExample(
  folder: string,
  isReady: RegExp,
  { args = [], env = {}, node = process.execPath }: { args?: string[]; env?: Record<string, string>; node?: string } = {},
): Promise<RunningExample> {
  const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { scripts: { start: string } }
  // The command of `npm start`, so that no npm stands between the test and the process that it ends.
  const [program, ...words] = scripts.start.split(' ')
  assert.equal(program, 'node')
  const child: ChildProcess = spawn(node, [...words, ...args], { cwd: folder, env: { ...process.env, ...env } })
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += chunk))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const end = () => {
    child.kill()
    return ended
  }
  try {
    await until(() => isReady.test(output) || child.exitCode !== null, `it starts: ${isReady}`, 20_000)
    assert.match(output, isReady)
  } catch (error) {
    await end()
    throw error
  }
  return { output: () => output, end }
}
