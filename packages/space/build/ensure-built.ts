import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify, stripVTControlCharacters } from 'node:util'
import { DIST, isDistFresh } from './dist.ts'

const checkout = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

/** The bundle of this tree, built when it is missing or old: about 2 s, and 50 ms when it is neither. */
export async function ensureBuilt(root = checkout): Promise<{ bundlePath: string }> {
  if (!(await isDistFresh(root))) await build(root)
  return { bundlePath: join(root, DIST, 'space.mjs') }
}

/** In a process of its own: bundlers leave threads and memory behind. */
async function build(root: string): Promise<void> {
  try {
    await run(process.execPath, [join(root, 'packages/space/build/build.ts')])
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    throw new Error(
      `the Space service cannot be built (npm run build): ${stripVTControlCharacters(stderr?.trim() || String(error))}`,
      { cause: error },
    )
  }
}
