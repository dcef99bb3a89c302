import { codeOf } from '#errors/caught.ts'
import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { link, lstat, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BlobError } from '../blobs.ts'

export interface WholeFile {
  path: string
  /** The partial file, on the same file system. Its folder exists. */
  growing: string
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>
  bytes: number
  /** In hex, where it is known. */
  sha256?: string | undefined
  /** Keeps an existing file and throws EEXIST. */
  once?: boolean | undefined
  /** Takes room for the whole file before its first byte. Throws where the disk has none. */
  reserve?: (file: FileHandle) => Promise<void>
  /** Called before each part of the file is written. Throws where the disk has no room for it. */
  assertRoom?: (file: FileHandle, part: WholeFilePart) => Promise<void>
}

interface WholeFilePart {
  /** The bytes of this part. */
  bytes: number
  /** The bytes before this part. */
  written: number
  /** This part and all after it. */
  rest: number
}

/** Many files may grow at once, and each may fill the disk by as much before its space is looked at again. */
const partBytes = 64 * 1024

/** Writes a file completely and durably, or not at all. Reads the next chunk only after the previous one is written. */
export async function writeWhole({ path, growing, once, ...content }: WholeFile): Promise<Stats> {
  const file = await open(growing, 'wx', 0o600)
  try {
    const stats = await fill(file, content)
    await moveInto(growing, path, { once })
    return stats
  } catch (error) {
    await rm(growing, { force: true })
    throw error
  }
}

type Content = Pick<WholeFile, 'chunks' | 'bytes' | 'sha256' | 'reserve' | 'assertRoom'>

async function fill(file: FileHandle, content: Content): Promise<Stats> {
  try {
    await content.reserve?.(file)
    await writeChunks(file, content)
    await file.sync()
    return await file.stat()
  } finally {
    await file.close()
  }
}

async function writeChunks(file: FileHandle, { chunks, bytes, sha256, assertRoom }: Content): Promise<void> {
  const hash = sha256 === undefined ? undefined : createHash('sha256')
  let written = 0
  let unchecked = 0
  for await (const chunk of chunks) {
    const before = written
    written += chunk.length
    if (written > bytes) throw new BlobError('mismatch', `more than the ${bytes} bytes announced`)
    hash?.update(chunk)
    unchecked += chunk.length
    if (unchecked >= partBytes) {
      await assertRoom?.(file, { bytes: chunk.length, written: before, rest: bytes - before })
      unchecked = 0
    }
    await file.writeFile(chunk)
  }
  if (written !== bytes) throw new BlobError('mismatch', `${written} bytes instead of the ${bytes} announced`)
  if (hash && hash.digest('hex') !== sha256) throw new BlobError('mismatch', 'the SHA-256 is not the one announced')
}

/**
 * Renames a file into a folder, which is made if it is missing, and syncs the folder so that the new name survives a
 * power failure. With `once` an existing file is kept: EEXIST. With `keep` too, the file also keeps its old name; on a
 * file system without hard links this fails (`isWithoutLinks`).
 */
export async function moveInto(
  from: string,
  to: string,
  { once, keep }: Pick<WholeFile, 'once'> & { keep?: boolean } = {},
): Promise<void> {
  const folder = dirname(to)
  for (let attempt = 1; ; attempt++) {
    const firstMade = await mkdir(folder, { recursive: true, mode: 0o700 })
    try {
      await (once ? renameOnce(from, to, keep) : rename(from, to))
    } catch (error) {
      // A concurrent delete may remove the empty folder in between.
      if (codeOf(error) !== 'ENOENT' || attempt === 5) throw error
      continue
    }
    await syncFolders(folder, firstMade ? dirname(firstMade) : folder).catch((error: NodeJS.ErrnoException) => {
      // The file was deleted again, so there is nothing to sync.
      if (error.code !== 'ENOENT') throw error
    })
    return
  }
}

/** Links instead of renaming, because a rename would replace an existing file. */
async function renameOnce(from: string, to: string, keep = false): Promise<void> {
  try {
    await link(from, to)
    if (!keep) await rm(from, { force: true })
  } catch (error) {
    if (keep || !isWithoutLinks(error)) throw error
    // Two steps on a file system without hard links.
    if (await lstat(to).catch(() => undefined)) throw Object.assign(new Error('there is a file already'), { code: 'EEXIST' })
    await rename(from, to)
  }
}

const linkRefusals = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** Whether a file was not linked because its file system has no hard links. */
export function isWithoutLinks(error: unknown): boolean {
  return linkRefusals.has(codeOf(error) ?? '')
}

async function syncFolders(from: string, upTo: string): Promise<void> {
  for (let at = from; ; at = dirname(at)) {
    const folder = await open(at, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
    if (at === upTo) return
  }
}
