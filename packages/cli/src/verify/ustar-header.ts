import { CheckFailed } from './report.ts'

export const BLOCK_BYTES = 512

export interface UstarHeader {
  readonly path: string
  readonly sizeBytes: number
  readonly isFolder: boolean
  readonly isExecutable: boolean
}

type Field = readonly [start: number, length: number]

/** The header fields (IEEE Std 1003.1-1988). ustar does not use the last one, but other dialects store data in it. */
const FIELDS = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  linkName: [157, 100],
  userName: [265, 32],
  groupName: [297, 32],
  deviceMajor: [329, 8],
  deviceMinor: [337, 8],
  prefix: [345, 155],
  unused: [500, 12],
} as const satisfies Record<string, Field>

const TYPES: Readonly<Record<string, string>> = {
  '\0': 'an entry of a tar before POSIX',
  '1': 'a hard link',
  '2': 'a symbolic link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a fifo',
  '7': 'a contiguous file',
  g: 'a pax header',
  x: 'a pax header',
  K: 'a GNU long name',
  L: 'a GNU long name',
  M: 'a GNU continuation',
  S: 'a GNU sparse file',
}

/**
 * Reads a header block of POSIX ustar and rejects every other dialect. GNU, pax, star and old tars encode names, sizes
 * and types differently, and readers support different subsets. With a single dialect, every reader sees the same
 * files.
 */
export function readUstarHeader(block: Buffer): UstarHeader {
  assertChecksum(block)
  const magic = block.toString('latin1', 257, 265)
  if (magic !== 'ustar\x0000') throw new CheckFailed(`the archive is not POSIX ustar: ${dialectOf(magic)}`)
  const name = readText(block, 'name')
  const prefix = readText(block, 'prefix')
  const path = prefix ? `${prefix}/${name}` : name
  const type = String.fromCharCode(block.readUInt8(156))
  if (type !== '0' && type !== '5') {
    throw new CheckFailed(`the archive contains ${path}, which is not a plain file but ${TYPES[type] ?? 'of an unknown type'}`)
  }
  const isFolder = type === '5'
  const sizeBytes = readNumber(block, 'size')
  if (isFolder && sizeBytes > 0) throw new CheckFailed(`the archive contains ${path}, a folder with content`)
  if (readText(block, 'linkName')) throw new CheckFailed(`the archive contains ${path}, a plain file that names another`)
  const mode = readNumber(block, 'mode')
  if (mode > 0o777) throw new CheckFailed(`the archive contains ${path}, whose mode has special bits`)
  for (const field of ['uid', 'gid', 'mtime'] as const) readNumber(block, field)
  for (const field of ['userName', 'groupName'] as const) readText(block, field)
  for (const field of ['deviceMajor', 'deviceMinor'] as const) {
    if (!isZero(bytesOf(block, field)) && readNumber(block, field) !== 0)
      throw new CheckFailed(`the archive contains ${path}, a device`)
  }
  if (!isZero(bytesOf(block, 'unused'))) throw new CheckFailed('the archive is not POSIX ustar: a header contains more fields')
  return { path, sizeBytes, isFolder, isExecutable: (mode & 0o100) !== 0 }
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}

function dialectOf(magic: string): string {
  if (magic === 'ustar  \0') return 'it is of the GNU dialect'
  return magic === '\0'.repeat(8) ? 'it is of the dialect before POSIX' : 'its magic is unknown'
}

function assertChecksum(block: Buffer): void {
  const sum = block.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 0x20 : byte), 0)
  if (readNumber(block, 'checksum') !== sum) throw new CheckFailed('the archive is damaged: a checksum is wrong')
}

/** Reads octal digits, terminated by spaces or NULs. GNU writes binary numbers here, and old tars leading spaces. */
function readNumber(block: Buffer, field: keyof typeof FIELDS): number {
  const [, digits] = /^([0-7]{1,11})[ \0]+$/.exec(bytesOf(block, field).toString('latin1')) ?? []
  if (digits === undefined) throw new CheckFailed(`the archive is damaged: ${field} is not an octal number`)
  return Number.parseInt(digits, 8)
}

/** Reads text up to a NUL or the end of the field. The rest must be zero, because star reads other fields there. */
function readText(block: Buffer, field: keyof typeof FIELDS): string {
  const bytes = bytesOf(block, field)
  const end = bytes.indexOf(0)
  if (end === -1) return bytes.toString('latin1')
  if (!isZero(bytes.subarray(end))) throw new CheckFailed(`the archive hides bytes after the end of ${field}`)
  return bytes.toString('latin1', 0, end)
}

function bytesOf(block: Buffer, field: keyof typeof FIELDS): Buffer {
  const [start, length] = FIELDS[field]
  return block.subarray(start, start + length)
}
