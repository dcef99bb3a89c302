import { crc32 } from 'node:zlib'

export interface ArchiveFile {
  /** Relative to the root of the archive, with `/`. */
  readonly path: string
  readonly body: Uint8Array
  readonly isExecutable?: boolean
}

/**
 * Makes a .tar.gz that depends only on names, bytes and the executable bit: entries are sorted, without times,
 * owners and folders (tar creates them).
 *
 * It is not compressed: the output of a deflater differs between versions of zlib and even between processors (Node
 * has its own code for each), so equal sources would give equal bytes only on similar machines. The archive is
 * small, and few download it.
 */
export function makeArchive(files: readonly ArchiveFile[]): Buffer {
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const tar = Buffer.concat([...sorted.flatMap(tarEntry), Buffer.alloc(1024)])
  return storeAsGzip(tar)
}

/** POSIX.1-1988 ustar. */
function tarEntry({ path, body, isExecutable }: ArchiveFile): Uint8Array[] {
  if (!/^[\x21-\x7e]{1,100}$/.test(path)) throw new Error(`${path}: not a name for a ustar archive`)
  const header = Buffer.alloc(512)
  header.write(path, 0)
  header.write(isExecutable ? '0000755' : '0000644', 100)
  header.write('0000000', 108) // uid
  header.write('0000000', 116) // gid
  header.write(octal(body.length, 11), 124)
  header.write(octal(0, 11), 136) // mtime
  header.write('        ', 148) // the checksum counts itself as blanks
  header.write('0', 156) // a regular file
  header.write('ustar\x0000', 257)
  header.write(`${octal(header.reduce(sum), 6)}\0 `, 148)
  return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]
}

function sum(a: number, b: number): number {
  return a + b
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

const MAX_STORED = 65_535

/** RFC 1952 around RFC 1951 §3.2.4: stored blocks. */
function storeAsGzip(bytes: Uint8Array): Buffer {
  const parts: Uint8Array[] = [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])]
  for (let at = 0; at < bytes.length; at += MAX_STORED) {
    const block = bytes.subarray(at, at + MAX_STORED)
    const head = Buffer.alloc(5)
    head[0] = at + MAX_STORED >= bytes.length ? 1 : 0
    head.writeUInt16LE(block.length, 1)
    head.writeUInt16LE(block.length ^ 0xffff, 3)
    parts.push(head, block)
  }
  const tail = Buffer.alloc(8)
  tail.writeUInt32LE(crc32(bytes), 0)
  tail.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([...parts, tail])
}
