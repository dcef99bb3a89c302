import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const guidesFolder = fileURLToPath(new URL('../../docs/guides/', import.meta.url))
const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url))
const pythonClient = fileURLToPath(new URL('../../packages/python/src/', import.meta.url))
const timeoutMs = 60_000

export interface Block {
  /** sh, ts and py blocks run. json and text blocks are the output of the block before them. */
  language: string
  /** The block shows an error answer of the server. */
  refused: boolean
  text: string
}

export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+)( refused)?\n([\s\S]*?)^```$/gm)].map(([, language, refused, text]) => ({
    language: language!,
    refused: Boolean(refused),
    text: text!,
  }))
}

/**
 * Runs the blocks in order in one folder. sh runs shell blocks, whose variables and functions remain for the next;
 * node runs ts blocks; python3 runs py blocks, with the client in its path. Each must succeed and print the json or
 * text block after it.
 */
export async function runGuide(blocks: readonly Block[], given: Record<string, string> = {}): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-guide-'))
  try {
    await symlink(modules, join(folder, 'node_modules'))
    let env: NodeJS.ProcessEnv = { ...process.env, NODE_OPTIONS: '', ...given }
    let printed = ''
    const functions = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => text.match(/^\w+\(\) \{.*\}$/gm) ?? [])
    for (const [at, { language, refused, text }] of blocks.entries()) {
      if (language === 'sh') [printed, env] = await runShell([...functions, text].join('\n'), { folder, env, refused })
      else if (language === 'ts') printed = await runTypeScript(text, { folder, env, at })
      else if (language === 'py') printed = await runPython(text, { folder, env })
      else if (language === 'json') assertShape(parse(printed), JSON.parse(text), printed)
      else assertText(printed, text)
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 })
  }
}

interface Place {
  folder: string
  env: NodeJS.ProcessEnv
}

async function runShell(
  text: string,
  { folder, env, refused }: Place & { refused: boolean },
): Promise<[string, NodeJS.ProcessEnv]> {
  // Readers see an error answer; here it ends the guide. This uses curl's own settings, because a function named curl
  // would be a shell of its own in the background and survive its kill.
  await mkdir(join(folder, '.curl'), { recursive: true })
  await writeFile(join(folder, '.curl', '.curlrc'), refused ? '' : 'fail-with-body\n')
  const script = `export CURL_HOME="$PWD/.curl"\nset -a\n${text}\nset +a\nenv -0 > .variables\n`
  const printed = await run('sh', ['-eu', '-c', script], { folder, env })
  const variables = (await readFile(join(folder, '.variables'), 'utf8')).split('\0').filter(Boolean)
  return [printed, Object.fromEntries(variables.map((line) => line.split(/=(.*)/s).slice(0, 2)))]
}

async function runTypeScript(text: string, { folder, env, at }: Place & { at: number }): Promise<string> {
  const file = join(folder, `block-${at}.mts`)
  await writeFile(file, text)
  return run(process.execPath, [file], { folder, env })
}

async function runPython(text: string, { folder, env }: Place): Promise<string> {
  const python = { ...env, PYTHONPATH: pythonClient, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' }
  return run('python3', ['-c', text], { folder, env: python })
}

function run(program: string, args: string[], { folder, env }: Place): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: folder, env, timeout: timeoutMs }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${args.at(-1)}\n${stdout}${stderr}`, { cause: error }))
      else resolve(stdout)
    })
  })
}

/** The output is one JSON value, or in the format of console.log. */
function parse(printed: string): unknown {
  try {
    return JSON.parse(printed)
  } catch {
    throw new Error(`this is not JSON: ${printed}`)
  }
}

/** The same keys and values. `…` in a string matches anything; alone it also matches a number. */
function assertShape(actual: unknown, shown: unknown, context: string): void {
  if (typeof shown === 'string' && shown.includes('…')) {
    assert.match(String(actual), patternOf(shown), context)
  } else if (typeof shown === 'object' && shown !== null) {
    assert.ok(typeof actual === 'object' && actual !== null, context)
    assert.deepEqual(Object.keys(actual).toSorted(), Object.keys(shown).toSorted(), context)
    for (const [name, value] of Object.entries(shown)) assertShape(Reflect.get(actual, name), value, context)
  } else assert.deepEqual(actual, shown, context)
}

function assertText(printed: string, shown: string): void {
  assert.match(printed.replaceAll('\r', '').trimEnd(), patternOf(shown.trimEnd()))
}

function patternOf(shown: string): RegExp {
  const literally = (part: string) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return new RegExp(`^${shown.split('…').map(literally).join('[^]+')}$`)
}
