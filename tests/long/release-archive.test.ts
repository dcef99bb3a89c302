import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { adminToken, freePort } from '../support/atrium-process.ts'
import { until } from '../support/embedded-installation.ts'
import { makeRelease } from '../support/make-release.ts'
import { runAcceptance } from '../support/run-acceptance.ts'
import { skipWithout } from '../support/skip-without.ts'

const run = promisify(execFile)
const barePath = join(import.meta.dirname, '../../scripts/bare-path.sh')
/** What npm needs to reach its registry where that is not the public one. */
const ofTheMachine = ['HOME', 'HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS', 'npm_config_registry', 'npm_config_cafile']

test(
  'the release archive on a bare Debian with npm alone: npm ci --omit=dev && npm start passes the acceptance tests',
  { skip: skipWithout('tar'), timeout: 600_000 },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'atrium-archive-'))
    t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 }))
    // Under root, PostgreSQL runs as another user, who has to reach its folder.
    await chmod(folder, 0o755)
    const release = join(folder, 'release')
    await makeRelease(release)
    const archive = (await readdir(release)).find((name) => name.endsWith('.tar.gz'))!
    await run('tar', ['-xzf', join(release, archive), '-C', folder])
    const app = join(folder, archive.replace('.tar.gz', ''))
    const bare = join(folder, 'bin')
    await run(barePath, [bare])

    const inherited = ofTheMachine.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
    const env = { ...Object.fromEntries(inherited), PATH: bare } as Record<string, string>
    const { stdout: npmVersion } = await run('npm', ['--version'], { cwd: app, env })
    t.diagnostic(`npm ${npmVersion.trim()}`)
    await run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: app, env, maxBuffer: 64 * 1024 * 1024 })
    // npm 10 removes this link; the script behind postinstall makes it again.
    assert.match((await run(join(app, 'node_modules/.bin/node'), ['--version'])).stdout, /^v2[4-9]\./)
    const modules = await readdir(join(app, 'node_modules'))
    assert.ok(!modules.includes('vite') && !modules.includes('typescript'), 'without what only developers need')

    const dataDir = join(folder, 'data')
    await mkdir(dataDir, { mode: 0o711 })
    const port = String(await freePort())
    const settings = {
      // Not production: the acceptance tests show the demo's pictures.
      NODE_ENV: 'test',
      PORT: port,
      SPACE_PORT: String(await freePort()),
      ATRIUM_DATA_DIR: dataDir,
      ATRIUM_ADMIN_TOKEN: adminToken,
    }
    const server = spawn('npm', ['start'], { cwd: app, env: { ...env, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] })
    t.after(() => server.kill('SIGTERM'))
    let output = ''
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (output += chunk))
    const ended = new Promise((resolve) => server.once('close', resolve))
    await until(() => output.includes('Atrium is running') || server.exitCode !== null, 'it starts', 90_000)
    assert.equal(server.exitCode, null, output)
    await runAcceptance(`http://localhost:${port}`, () => output)
    const began = performance.now()
    server.kill('SIGTERM')
    await ended
    assert.ok(performance.now() - began < 15_000, 'it ends in order')
  },
)
