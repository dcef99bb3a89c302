import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')

/** Makes the release archive of this checkout in the folder, with its bill of materials and SHA256SUMS. */
export async function makeRelease(out: string): Promise<void> {
  await rm(out, { recursive: true, force: true })
  await promisify(execFile)('npm', ['run', '-s', 'release', '--', '--allow-modified', '--out', out], { cwd: root })
}
