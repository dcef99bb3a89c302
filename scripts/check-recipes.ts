// `npm run check:recipes`: follows the recipes of CONTRIBUTING.md to the letter in a scratch copy, then runs the
// checks and the tests that the recipes add. It fails if a recipe misses a step. `--without N` leaves out the Nth
// step, to show that the check notices it.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')

interface Step {
  recipe: string
  file: string
  /** Where the text goes in the file: a new file, or before, after or instead of the named line. */
  how: 'new' | 'before' | 'after' | 'instead'
  line: string
  text: string
}

/**
 * A step is an item of a numbered list that begins with a file's name in bold, and has a block of code. The block's
 * info string says where the code belongs: `ts new`, or `ts before "a line of the file"`.
 */
function readSteps(markdown: string): Step[] {
  const recipes = markdown.split(/^### /m).slice(1)
  return recipes.flatMap((section) => {
    const [recipe = ''] = section.split('\n', 1)
    const items = section.split(/^\d+\. /m).slice(1)
    return items.flatMap((item) => {
      const file = /^\*\*`([^`]+)`\*\*/.exec(item)?.[1]
      if (!file) return []
      const blocks = item.split(/^ {3}```/m)
      // Text and blocks take turns.
      const steps = blocks.filter((_, i) => i % 2 === 1).map((block) => readBlock(recipe, file, block))
      if (steps.length === 0) throw new Error(`${recipe}: ${file} has no block of code`)
      return steps
    })
  })
}

function readBlock(recipe: string, file: string, block: string): Step {
  const [info = '', ...lines] = block.split('\n')
  const [, how, line = ''] = /^\w+ (new|before|after|instead)(?: "(.*)")?$/.exec(info) ?? []
  if (!how) throw new Error(`${recipe}: ${file}: "${info}" does not say where the code belongs`)
  const text = lines.map((one) => one.replace(/^ {3}/, '')).join('\n')
  return { recipe, file, how: how as Step['how'], line, text: text.trimEnd() }
}

function apply(folder: string, { recipe, file, how, line, text }: Step): void {
  const target = path.join(folder, file)
  if (how === 'new') {
    if (existsSync(target)) throw new Error(`${recipe}: ${file} is there already`)
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, `${text}\n`)
    return
  }
  const lines = readFileSync(target, 'utf8').split('\n')
  const places = lines.flatMap((one, i) => (one.trim() === line.trim() ? [i] : []))
  if (places.length !== 1) throw new Error(`${recipe}: ${file} has ${places.length} lines that read "${line}"`)
  const [at] = places as [number]
  lines.splice(how === 'after' ? at + 1 : at, how === 'instead' ? 1 : 0, ...text.split('\n'))
  writeFileSync(target, lines.join('\n'))
}

function copyTree(folder: string): void {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  for (const file of files.split('\n').filter((name) => name && existsSync(path.join(root, name))))
    cpSync(path.join(root, file), path.join(folder, file), { recursive: true })
  // The workspace packages are links in node_modules. In the copy, they must point into the copy.
  mkdirSync(path.join(folder, 'node_modules'))
  execFileSync('cp', ['-a', '--reflink=auto', path.join(root, 'node_modules/@atrium'), path.join(folder, 'node_modules/@atrium')])
  const others = execFileSync('ls', ['-A', path.join(root, 'node_modules')], { encoding: 'utf8' }).split('\n')
  for (const name of others.filter((one) => one && one !== '@atrium'))
    symlinkSync(path.join(root, 'node_modules', name), path.join(folder, 'node_modules', name))
}

function run(folder: string, ...args: string[]): void {
  console.log(`recipes: npm ${args.join(' ')}`)
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit' })
  if (status !== 0)
    throw new Error(`npm ${args.join(' ')} failed: a recipe of CONTRIBUTING.md misses a step, or a step is out of date`)
}

const steps = readSteps(readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8'))
const without = process.argv.indexOf('--without')
const followed = without === -1 ? steps : steps.filter((_, i) => i !== Number(process.argv[without + 1]) - 1)
const folder = mkdtempSync(path.join(tmpdir(), 'atrium-recipes-'))
try {
  copyTree(folder)
  for (const step of followed) apply(folder, step)
  const tests = steps.filter(({ file }) => file.endsWith('.test.ts')).map(({ file }) => file)
  // The test runner ignores files that do not exist.
  for (const test of tests) if (!existsSync(path.join(folder, test))) throw new Error(`no recipe writes ${test}`)
  run(folder, 'run', '--silent', 'generate')
  for (const check of ['types', 'lint', 'format', 'unused']) run(folder, 'run', '--silent', `check:${check}`)
  // Checks what a recipe's own test does not: that a page of the documentation is served.
  run(folder, 'test', '--', ...tests, 'packages/server/src/gateway/docs/add-docs-pages.test.ts')
  console.log(
    `recipes: ${steps.length} steps of ${new Set(steps.map(({ recipe }) => recipe)).size} recipes, followed to the letter, pass the checks`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
