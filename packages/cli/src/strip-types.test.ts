import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
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

test('a program prints the same text, whatever characters its source has, and its kept file has one byte a character', async (t) => {
  const { root, kept, print } = await makeFolder(t)
  const lines = [
    "const shown: string = 'a\u2026b'",
    'type Gone = {',
    '  a: string',
    '}',
    'const kept = `\u2013  ',
    '  \u{1f600}` as string',
    'console.log([shown, kept, /[\u2026\u2013]/.test(shown), [...kept].length, /^\u{1f600}$/u.test(kept.trim().slice(-2))].join("|"))',
    'export {}',
  ]
  await writeFile(join(root, 'packages/cli/program.ts'), lines.join('\n'))
  const printed = ['a\u2026b', '\u2013  \n  \u{1f600}', 'true', '7', 'true'].join('|')
  assert.deepEqual(await print(), { printed, stderr: '' })
  const [file = ''] = await readdir(kept)
  const text = await readFile(join(kept, file), 'utf8')
  assert.doesNotMatch(text, /[^\0-\xff]/)
  assert.match(text, /\n\n\n\n/, 'lines that were types are empty, and still there')
  // In a raw template an escape is another text.
  await writeFile(join(root, 'packages/cli/program.ts'), 'console.log(String.raw`\u2026`)\nexport {}\n')
  assert.deepEqual(await print(), { printed: '\u2026', stderr: '' })
})
