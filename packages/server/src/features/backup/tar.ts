/** One file of an archive. */
export interface TarEntry {
  name: string
  bytes: number
  /** May be skipped, or read once, before the next entry is requested. */
  body: AsyncIterable<Buffer>
}

const block = 512
/** The characters of names in an archive, so that errors can quote a name on one line. */
const nameOfFile = /^[\w./-]+$/
/** The largest number of 11 octal digits. A larger size is written in binary, as GNU tar does. */
const maxOctal = 8 ** 11 - 1

/** The header of a regular file (POSIX.1-1988 ustar), readable by its owner only. */
export function tarHeader(name: string, bytes: number, modifiedAt: Date): Buffer {
  const header = Buffer.alloc(block)
  const { prefix, rest } = splitName(name)
  header.write(rest, 0, 100, 'latin1')
  header.write('0000600\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  if (bytes <= maxOctal) header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124)
  else {
    header[124] = 0x80
    header.writeBigUInt64BE(BigInt(bytes), 128)
  }
  header.write(
    `${Math.floor(modifiedAt.getTime() / 1_000)
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
  )
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  header.write(prefix, 345, 155, 'latin1')
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** The padding after a file, up to the next block. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((block - (bytes % block)) % block)
}

/** The end of an archive. */
export const tarEnd = Buffer.alloc(2 * block)

/**
 * Yields the files of an archive with headers by `tarHeader`, one after the other, in constant memory. Throws for
 * any other archive, and for one that is truncated.
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const reader = new BlockReader(source)
  for (;;) {
    const header = await reader.take(block)
    if (header.every((byte) => byte === 0)) return
    const { name, bytes } = readHeader(header)
    const body = reader.stream(bytes)
    yield { name, bytes, body }
    for await (const _ of body);
    await reader.take((block - (bytes % block)) % block)
  }
}

class BlockReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  async take(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.stream(bytes)) parts.push(part)
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
  }

  /** An iterator that a second loop can continue, so that unread bytes can be skipped. */
  stream(bytes: number): AsyncIterable<Buffer> {
    let left = bytes
    const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
      if (left === 0) return { done: true, value: undefined }
      if (this.#rest.length === 0) await this.#more()
      const value = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(value.length)
      left -= value.length
      return { done: false, value }
    }
    return { [Symbol.asyncIterator]: () => ({ next }) }
  }

  async #more(): Promise<void> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done) throw new Error('the archive ends too early')
      this.#rest = value
    }
  }
}

function readHeader(header: Buffer): { name: string; bytes: number } {
  const text = (start: number, length: number) => header.toString('latin1', start, start + length).replace(/\0.*$/s, '')
  if (text(257, 5) !== 'ustar' || Number.parseInt(text(148, 8), 8) !== checksumOf(header))
    throw new Error('it is not a tar archive')
  const type = text(156, 1)
  const [prefix, rest] = [text(345, 155), text(0, 100)]
  const name = prefix === '' ? rest : `${prefix}/${rest}`
  if (type !== '0') throw new Error(`the archive has an entry of type ${JSON.stringify(type)}: ${JSON.stringify(name)}`)
  const bytes = header[124] === 0x80 ? Number(header.readBigUInt64BE(128)) : Number.parseInt(text(124, 12), 8)
  if (!nameOfFile.test(name)) throw new Error(`the archive has an entry with a wrong name: ${JSON.stringify(name)}`)
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw new Error(`the archive has an entry without a size: ${name}`)
  return { name, bytes }
}

/** The sum of all bytes, with spaces in place of the checksum field. */
function checksumOf(header: Buffer): number {
  let sum = 0
  for (const [i, byte] of header.entries()) sum += i >= 148 && i < 156 ? 0x20 : byte
  return sum
}

function splitName(name: string): { prefix: string; rest: string } {
  if (!nameOfFile.test(name)) throw new Error(`${name} cannot be the name of a file in an archive`)
  if (name.length <= 100) return { prefix: '', rest: name }
  const at = name.indexOf('/', name.length - 101)
  if (at === -1 || at > 155) throw new Error(`${name} is too long for the name of a file in an archive`)
  return { prefix: name.slice(0, at), rest: name.slice(at + 1) }
}
