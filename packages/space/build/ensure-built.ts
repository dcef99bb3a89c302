import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify, stripVTControlCharacters } from 'node:util'
import { DIST, isDistFresh } from './dist.ts'

const checkout = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

/**
 * Returns the bundle of this tree. Builds it if it is missing or out of date: that takes about 2 s, the check 50 ms.
 */
export async function ensureBuilt(root = checkout): Promise<{ bundlePath: string }> {
  if (!(await isDistFresh(root))) await build(root)
  return { bundlePath: join(root, DIST, 'space.mjs') }
}

/** Runs in a separate process, because bundlers keep threads and memory. */
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
