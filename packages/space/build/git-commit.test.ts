import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { skipWithout } from '../../../tests/support/skip-without.ts'
import { findHead, findModified, readCommitFile, readFromCommit } from './git-commit.ts'
import { run, temporaryFolder } from './testing/copy-tree.ts'

const skip = skipWithout('git')
const root = await temporaryFolder(after)
const git = (...args: string[]) => run('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: root })
let commit = ''

before(async () => {
  if (skip) return
  await git('init', '-q')
  await mkdir(join(root, 'src'))
  for (const name of ['a.ts', 'b.ts']) await writeFile(join(root, 'src', name), `export const ${name[0]} = 1\n`)
  await writeFile(join(root, '.gitignore'), 'ignored.ts\n')
  await git('add', '.')
  await git('commit', '-qm', 'first')
  commit = (await git('rev-parse', 'HEAD')).stdout.trim()
})

const files = async (...names: string[]) =>
  new Map(await Promise.all(names.map(async (name) => [`src/${name}`, await readFile(join(root, 'src', name))] as const)))

test('a clean tree is its commit', { skip }, async () => {
  assert.equal(await findHead(root), commit)
  assert.deepEqual(await findModified(root, commit, await files('a.ts', 'b.ts')), [])
  assert.equal((await readFromCommit(root, commit, 'src/a.ts'))?.toString(), 'export const a = 1\n')
  assert.equal(await readFromCommit(root, commit, 'src/none.ts'), undefined)
})

test(
  'modified: changed, new and ignored files, also where git was told to look away; others do not count',
  { skip },
  async () => {
    await writeFile(join(root, 'src/b.ts'), 'export const b = 2\n')
    await git('update-index', '--assume-unchanged', 'src/b.ts')
    await writeFile(join(root, 'src/new.ts'), '')
    await writeFile(join(root, 'src/ignored.ts'), '')
    assert.deepEqual(await findModified(root, commit, await files('a.ts')), [])
    const modified = await findModified(root, commit, await files('a.ts', 'b.ts', 'new.ts', 'ignored.ts'))
    assert.deepEqual(modified, ['src/b.ts', 'src/new.ts', 'src/ignored.ts'])
  },
)

test('a folder in another repository, or in none, has no commit of its own', { skip }, async () => {
  assert.equal(await findHead(join(root, 'src')), undefined)
  assert.equal(await findHead(await temporaryFolder(after)), undefined)
})

test("an archive's commit comes from its file, and only a commit passes", { skip }, async () => {
  const folder = await temporaryFolder(after)
  assert.equal(await readCommitFile(folder), undefined)
  for (const text of [commit, `${commit}-modified`, 'unknown']) {
    await writeFile(join(folder, 'COMMIT'), `${text}\n`)
    assert.equal(await readCommitFile(folder), text)
  }
  await writeFile(join(folder, 'COMMIT'), '<script>')
  await assert.rejects(readCommitFile(folder))
})
