import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const hookFile = fileURLToPath(new URL('../bin/strip-types.cjs', import.meta.url))

/** A source folder with one program, which prints a number. */
async function makeFolder(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'atrium-strip-types-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const hook = join(root, 'packages/cli/bin/strip-types.cjs')
  const program = join(root, 'packages/cli/program.ts')
  await mkdir(join(root, 'packages/cli/bin'), { recursive: true })
  await copyFile(hookFile, hook)
  const write = (value: number) => writeFile(program, `const value: number = ${value}\nexport {}\nconsole.log(value)\n`)
  await write(1)
  const print = async () => {
    const { stdout, stderr } = await run(process.execPath, ['--require', hook, program])
    return { printed: stdout.trim(), stderr }
  }
  return { root, kept: join(root, 'node_modules/.cache/stripped', process.version), write, print }
}

test('the text without types is kept, and read by the next start; a changed file is read anew', async (t) => {
  const { kept, write, print } = await makeFolder(t)
  assert.deepEqual(await print(), { printed: '1', stderr: '' })
  const [file, ...others] = await readdir(kept)
  assert.ok(file !== undefined && others.length === 0, `${1 + others.length} files`)
  const text = 'console.log("kept")'
  await writeFile(join(kept, file), `${createHash('sha256').update(text).digest('hex')}\n${text}`)
  assert.equal((await print()).printed, 'kept')
  for (const part of ['', 'console', '\0'.repeat(100)]) {
    await writeFile(join(kept, file), part)
    assert.deepEqual(await print(), { printed: '1', stderr: '' }, 'a file that a power failure left in part')
  }
  await write(2)
  assert.deepEqual(await print(), { printed: '2', stderr: '' })
})

test('where nothing can be kept, programs run all the same', async (t) => {
  const { root, print } = await makeFolder(t)
  await writeFile(join(root, 'node_modules'), 'a file where the folder would be')
  assert.deepEqual(await print(), { printed: '1', stderr: '' })
})

test('processes that start at once read whole files', async (t) => {
  const { kept, print } = await makeFolder(t)
  const all = await Promise.all(Array.from({ length: 6 }, () => print()))
  assert.deepEqual(new Set(all.map(({ printed }) => printed)), new Set(['1']))
  assert.equal((await readdir(kept)).length, 1)
})
