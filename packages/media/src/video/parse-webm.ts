import { UploadMismatch } from './upload-mismatch.ts'
import { maxSide, type VideoSize } from './parse-mp4.ts'
import type { Parser } from './pull-parser.ts'

const ids = { ebml: 0x1a45dfa3, docType: 0x4282, segment: 0x18538067, tracks: 0x1654ae6b, cluster: 0x1f43b675 }
const trackIds = { entry: 0xae, type: 0x83, video: 0xe0, width: 0xb0, height: 0xba }
const maxHeaderBytes = 4_096
const maxTracksBytes = 1024 * 1024
const maxElements = 10_000

/**
 * Parses a WebM file (EBML, RFC 8794; Matroska, RFC 9559) up to its first cluster, because the tracks are described
 * before it. Returns the size of its picture. The segment must end with the file; a live recording does not declare
 * its length.
 */
export function* parseWebm(bytes: number): Parser<VideoSize> {
  const header = yield* readElement(bytes)
  if (header.id !== ids.ebml || header.left === undefined || header.left > maxHeaderBytes)
    throw broken('it does not begin as one')
  const docType = elementsIn(yield { take: header.left }).find(({ id }) => id === ids.docType)
  if (docType?.payload.toString('latin1').replace(/(?<!\0)\0+$/, '') !== 'webm') throw broken('it is of another kind')
  const segment = yield* readElement(bytes - header.bytes - header.left)
  const rest = bytes - header.bytes - header.left - segment.bytes
  if (segment.id !== ids.segment) throw broken('it is damaged')
  if (segment.left !== undefined && segment.left !== rest) throw broken('it has data after its end')
  const { size, left } = yield* readTracks(rest)
  yield* skip(left)
  return size
}

function* readTracks(within: number): Parser<{ size: VideoSize; left: number }> {
  let left = within
  for (let count = 0; count < maxElements && left > 0; count++) {
    const element = yield* readElement(left)
    left -= element.bytes
    if (element.id === ids.cluster || element.left === undefined) break
    if (element.id === ids.tracks) {
      if (element.left > maxTracksBytes) throw broken('it is damaged')
      const size = sizeOfTracks(yield { take: element.left })
      return { size, left: left - element.left }
    }
    yield* skip(element.left)
    left -= element.left
  }
  throw broken('it has no picture')
}

interface ElementHead {
  id: number
  /** The length of the element's head. */
  bytes: number
  /** The length of its content; undefined: not declared. */
  left: number | undefined
}

function* readElement(within: number): Parser<ElementHead> {
  const id = yield* readNumber(within, 4)
  const size = yield* readNumber(within - id.bytes, 8)
  const bytes = id.bytes + size.bytes
  // All ones: the length is unknown.
  const left = size.value === size.max ? undefined : size.value
  if (left !== undefined && left > within - bytes) throw broken('a part of it is larger than the file')
  return { id: id.marked, bytes, left }
}

function* readNumber(within: number, maxBytes: number) {
  if (within < 1) throw broken('it is truncated')
  const first: Buffer = yield { take: 1 }
  const bytes = Math.clz32(first.readUInt8(0)) - 24 + 1
  if (bytes > maxBytes || bytes > within) throw broken('it is truncated')
  const more: Buffer = bytes > 1 ? yield { take: bytes - 1 } : Buffer.alloc(0)
  return decodeNumber(Buffer.concat([first, more]))
}

/** A variable-length number, whose leading zeros encode its length. An id keeps its marker bit. */
function decodeNumber(coded: Buffer) {
  const bytes = coded.length
  const first = coded.readUInt8(0)
  const more = coded.subarray(1)
  const join = (head: number) => more.reduce((sum, byte) => sum * 256 + byte, head)
  // The marker bit is removed first: with it, eight bytes exceed the integers of a number.
  const mark = 2 ** (8 - bytes)
  return { bytes, marked: join(first), value: join(first % mark), max: allOnes(bytes) }
}

/** The value with all bits set, computed in the same way. */
function allOnes(bytes: number): number {
  let max = 2 ** (8 - bytes) - 1
  for (let more = 1; more < bytes; more++) max = max * 256 + 255
  return max
}

function elementsIn(buffer: Buffer): { id: number; payload: Buffer }[] {
  const found: { id: number; payload: Buffer }[] = []
  for (let at = 0; at < buffer.length;) {
    const id = numberAt(buffer, at)
    const size = numberAt(buffer, at + id.bytes)
    const start = at + id.bytes + size.bytes
    at = start + size.value
    if (at > buffer.length || found.length === maxElements) throw broken('it is damaged')
    found.push({ id: id.marked, payload: buffer.subarray(start, at) })
  }
  return found
}

function numberAt(buffer: Buffer, at: number) {
  const bytes = Math.clz32(buffer[at] ?? 0) - 24 + 1
  if (bytes > 8 || at + bytes > buffer.length) throw broken('it is damaged')
  return decodeNumber(buffer.subarray(at, at + bytes))
}

function sizeOfTracks(tracks: Buffer): VideoSize {
  for (const entry of elementsIn(tracks).filter(({ id }) => id === trackIds.entry)) {
    const fields = elementsIn(entry.payload)
    const video = fields.find(({ id }) => id === trackIds.video)
    const isVideo = fields.some(({ id, payload }) => id === trackIds.type && payload.length === 1 && payload[0] === 1)
    if (!video || !isVideo) continue
    const inside = elementsIn(video.payload)
    const side = (wanted: number) => {
      const payload = inside.find(({ id }) => id === wanted)?.payload
      return payload && payload.length > 0 && payload.length <= 4 ? payload.readUIntBE(0, payload.length) : 0
    }
    const size = { width: side(trackIds.width), height: side(trackIds.height) }
    if (size.width > 0 && size.height > 0 && Math.max(size.width, size.height) <= maxSide) return size
  }
  throw broken('it has no picture')
}

function* skip(bytes: number): Parser<void> {
  if (bytes > 0) yield { skip: bytes }
}

function broken(why: string): UploadMismatch {
  return new UploadMismatch(`The WebM is not accepted: ${why}.`)
}
