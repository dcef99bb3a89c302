import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { unpackGzip } from './gzip.ts'
import { CheckFailed } from './report.ts'
import { SourceNames } from './source-names.ts'
import { BLOCK_BYTES, isZero, readUstarHeader } from './ustar-header.ts'

export interface ArchivedFile {
  readonly body: Buffer
  readonly isExecutable: boolean
}

const MAX_UNPACKED_BYTES = 128 * 1024 * 1024
const MAX_FILES = 5_000
/** Folders count too, because each needs a header. */
const MAX_ENTRIES = 10_000

/**
 * Reads the files of a .tar.gz. Stricter than tar: one gzip member, POSIX ustar, plain files in plain folders, zeros
 * in every unused byte. Rejects everything that another reader of the same bytes could interpret differently.
 */
export function readArchive(packed: Uint8Array): Map<string, ArchivedFile> {
  const tar = unpackGzip(packed, MAX_UNPACKED_BYTES)
  if (tar.length % BLOCK_BYTES !== 0) throw new CheckFailed('the archive is truncated, or not made of whole blocks')
  const files = new Map<string, ArchivedFile>()
  const names = new SourceNames()
  let at = 0
  for (let entries = 0; ; entries++) {
    if (at + BLOCK_BYTES > tar.length) throw new CheckFailed('the archive is cut off: it has no end')
    const block = tar.subarray(at, at + BLOCK_BYTES)
    if (isZero(block)) break
    if (entries >= MAX_ENTRIES || files.size > MAX_FILES)
      throw new CheckFailed(`the archive contains more than ${MAX_FILES} files`)
    const { path, sizeBytes, isFolder, isExecutable } = readUstarHeader(block)
    const start = at + BLOCK_BYTES
    const end = start + sizeBytes
    at = start + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES
    if (at > tar.length) throw new CheckFailed(`the archive is cut off: ${path} has ${sizeBytes} bytes`)
    if (!isZero(tar.subarray(end, at))) throw new CheckFailed(`the archive hides bytes after the end of ${path}`)
    if (isFolder) names.addFolder(path)
    else {
      names.addFile(path)
      files.set(path, { body: tar.subarray(start, end), isExecutable })
    }
  }
  assertEnd(tar.subarray(at))
  if (files.size > MAX_FILES) throw new CheckFailed(`the archive contains more than ${MAX_FILES} files`)
  if (files.size === 0) throw new CheckFailed('the archive is empty')
  return files
}

/** Some tars stop at two blocks of zeros and others continue, so nothing may follow. */
function assertEnd(rest: Buffer): void {
  if (rest.length < 2 * BLOCK_BYTES) throw new CheckFailed('the archive is cut off: it has no end')
  if (!isZero(rest)) throw new CheckFailed('the archive hides bytes after its end')
}

/** Writes the files into an empty folder. */
export async function extractArchive(files: ReadonlyMap<string, ArchivedFile>, folder: string): Promise<void> {
  for (const [path, { body, isExecutable }] of files) {
    const target = join(folder, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, body, { flag: 'wx', mode: isExecutable ? 0o755 : 0o644 })
  }
}
