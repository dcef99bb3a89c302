import assert from 'node:assert/strict'
import { appendFile, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { skipWithout } from '../../../tests/support/skip-without.ts'
import { ensureBuilt } from './ensure-built.ts'
import { copyTree, run, temporaryFolder } from './testing/copy-tree.ts'

const skip = skipWithout('git')
const { root } = await copyTree(await temporaryFolder(after))
const git = (...args: string[]) => run('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: root })

before(async () => {
  if (skip) return
  await writeFile(join(root, '.gitignore'), 'node_modules\ndist\n')
  await git('init', '-q')
  await git('add', '.')
  await git('commit', '-qm', 'first')
})

async function timed(): Promise<{ ms: number; madeMs: number; commit: string }> {
  const startMs = performance.now()
  const { bundlePath } = await ensureBuilt(root)
  const ms = performance.now() - startMs
  const { mtimeMs } = await stat(bundlePath)
  const { gitCommit } = JSON.parse(await readFile(join(bundlePath, '../build.json'), 'utf8')) as { gitCommit: string }
  return { ms, madeMs: mtimeMs, commit: gitCommit }
}

test('builds once, then finds it fresh; a change builds again and says so; a commit makes it clean', { skip }, async (t) => {
  const first = await timed()
  assert.match(first.commit, /^[0-9a-f]{40}$/)
  const second = await timed()
  assert.equal(second.madeMs, first.madeMs)
  await appendFile(join(root, 'packages/identity/src/email.ts'), '\n// changed\n')
  const changed = await timed()
  assert.notEqual(changed.madeMs, first.madeMs)
  assert.equal(changed.commit, `${first.commit}-modified`)
  await git('commit', '-qam', 'second')
  const committed = await timed()
  assert.match(committed.commit, /^[0-9a-f]{40}$/)
  assert.notEqual(committed.commit, first.commit)
  t.diagnostic(`built in ${Math.round(first.ms)} ms, found fresh in ${Math.round(second.ms)} ms`)
})

test('what influences nothing in the build changes neither bundle nor commit', { skip }, async () => {
  const { madeMs } = await timed()
  await appendFile(join(root, 'packages/space/src/decoy.test.ts'), '//\n')
  assert.equal((await timed()).madeMs, madeMs)
  await writeFile(join(root, 'packages/identity/src/unused.ts'), '//\n')
  assert.match((await timed()).commit, /^[0-9a-f]{40}$/)
})

test('a bundle or an archive that is not whole is made again', { skip }, async () => {
  for (const name of ['space.mjs', 'source.tar.gz']) {
    await appendFile(join(root, 'packages/space/dist', name), 'x')
    await timed()
    assert.ok(!(await readFile(join(root, 'packages/space/dist', name), 'utf8')).endsWith('x'))
  }
  await rm(join(root, 'packages/space/dist/source.tar.gz'))
  await timed()
  await stat(join(root, 'packages/space/dist/source.tar.gz'))
})

test('a package of another version than the lock says stops the build', { skip }, async () => {
  const path = join(root, 'node_modules/preact/package.json')
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace(/"version": "[^"]+"/, '"version": "0.0.1"'))
  await rm(join(root, 'packages/space/dist'), { recursive: true })
  await assert.rejects(ensureBuilt(root), /preact is 0\.0\.1 and the lock says .*npm ci/)
  await writeFile(path, text)
})

test('a path that Vite cannot build from is named', async () => {
  const moved = join(await temporaryFolder(after), 'atrium #2')
  await rename(root, moved)
  await rm(join(moved, 'packages/space/dist'), { recursive: true, force: true })
  await assert.rejects(ensureBuilt(moved), /cannot have # or \? in its path.*: move .*atrium #2/)
})
