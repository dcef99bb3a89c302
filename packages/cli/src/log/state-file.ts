import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { OperatorError } from '../operator-api.ts'

/**
 * Replaces a file in one step: after a crash, it has the old or the new content, and the new one is on the disk before
 * this returns. Two processes may replace it at once: the new content is of one of them.
 */
export async function replaceFile(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  const folder = await open(dirname(path))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** undefined: the file does not exist. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new OperatorError(`${path} cannot be read (${code})`)
  }
}
