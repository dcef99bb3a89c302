import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { CheckFailed } from './report.ts'

export interface ArchivedFile {
  readonly body: Buffer
  readonly isExecutable: boolean
}

const MAX_UNPACKED_BYTES = 128 * 1024 * 1024
const MAX_FILES = 5_000

/**
 * The files of a .tar.gz. Stricter than tar: plain files in plain folders only. Links, devices, names that leave the folder, names that
 * tools read in secret (.npmrc, node_modules) and names that a file system may take for one another are refused.
 */
export function readArchive(packed: Uint8Array): Map<string, ArchivedFile> {
  const tar = unpack(packed)
  const files = new Map<string, ArchivedFile>()
  const seen = new Set<string>()
  for (let at = 0; at + 512 <= tar.length;) {
    const header = tar.subarray(at, at + 512)
    if (header.every((byte) => byte === 0)) break
    const { path, size, type, isExecutable } = readHeader(header)
    at += 512
    if (at + size > tar.length) throw new CheckFailed('the archive is cut off')
    if (type !== '5') {
      if (type !== '0' && type !== '\0') throw new CheckFailed(`the archive holds ${path}, which is no plain file`)
      assertHarmless(path)
      if (seen.has(path.toLowerCase())) throw new CheckFailed(`the archive holds ${path} twice`)
      if (files.size >= MAX_FILES) throw new CheckFailed(`the archive holds more than ${MAX_FILES} files`)
      seen.add(path.toLowerCase())
      files.set(path, { body: tar.subarray(at, at + size), isExecutable })
    }
    at += Math.ceil(size / 512) * 512
  }
  if (files.size === 0) throw new CheckFailed('the archive is empty')
  return files
}

/** Writes the files into a folder that is empty. */
export async function extractArchive(files: ReadonlyMap<string, ArchivedFile>, folder: string): Promise<void> {
  for (const [path, { body, isExecutable }] of files) {
    const target = join(folder, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, body, { flag: 'wx', mode: isExecutable ? 0o755 : 0o644 })
  }
}

function unpack(packed: Uint8Array): Buffer {
  try {
    return gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES })
  } catch {
    throw new CheckFailed(`the archive is not gzip, is damaged, or unpacks to more than ${MAX_UNPACKED_BYTES} bytes`)
  }
}

function readHeader(header: Buffer) {
  const field = (start: number, length: number) => header.toString('latin1', start, start + length).replace(/\0.*$/s, '')
  const number = (start: number, length: number) => {
    const text = field(start, length).trim()
    if (!/^[0-7]+$/.test(text)) throw new CheckFailed('the archive is damaged')
    return Number.parseInt(text, 8)
  }
  const sum = header.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 0x20 : byte), 0)
  if (number(148, 8) !== sum) throw new CheckFailed('the archive is damaged')
  const prefix = field(257, 5) === 'ustar' ? field(345, 155) : ''
  return {
    path: prefix ? `${prefix}/${field(0, 100)}` : field(0, 100),
    size: number(124, 12),
    type: String.fromCharCode(header[156]!),
    isExecutable: (number(100, 8) & 0o100) !== 0,
  }
}

function assertHarmless(path: string): void {
  const isPlain = path.split('/').every((part) => /^[A-Za-z0-9_@+-][A-Za-z0-9_@+.-]*$/.test(part) && part !== 'node_modules')
  if (!isPlain) throw new CheckFailed(`the archive holds ${path}: not a name that source has`)
}
