// `npm run check`: runs all scripts of package.json that begin with `check:`, two at a time, and prints what each said
// when it has ended. It fails if one of them fails, and names those that did.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { mapConcurrently } from '../tests/support/map-concurrently.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** It takes as long as several of the others. If it began last, it would run alone. */
const longest = 'check:recipes'

async function passes(name: string): Promise<boolean> {
  const child = spawn('npm', ['run', name], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const said: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk))
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  process.stdout.write(Buffer.concat(said))
  return code === 0
}

const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }
const others = Object.keys(scripts).filter((name) => name.startsWith('check:') && name !== longest)
const names = [longest, ...others]
const results = await mapConcurrently(names, 2, passes)
const failed = names.filter((_, i) => !results[i])
if (failed.length > 0) {
  console.error(`failed: ${failed.join(', ')}`)
  process.exitCode = 1
}
