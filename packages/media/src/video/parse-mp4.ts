import { UploadMismatch } from './upload-mismatch.ts'
import type { Parser } from './pull-parser.ts'

export interface VideoSize {
  width: number
  height: number
}

/** The top-level boxes of an MP4 file, with or without fragments. A file with any other box is not accepted. */
const topLevel = new Set('ftyp moov moof mdat free skip wide styp sidx ssix mfra emsg prft pdin uuid meta udta'.split(' '))
const brands = /^(?:isom|iso[2-9a-c]|mp4[12]|mp71|avc1|M4V |M4VP|M4VH|MSNV|msdh|msix|dash|cmf[cs2]|3gp\d)$/
/** The number of boxes that are read. A file of half an hour with one fragment per frame has fewer. */
const maxBoxes = 200_000
const maxFtypBytes = 4_096
const maxTkhdBytes = 256
export const maxSide = 20_000

/**
 * Reads a file of the ISO base media file format (ISO/IEC 14496-12) whose boxes must fill it to the last byte.
 * Returns the size of its picture. A box that is larger than its container is an error, because a reader that trusts
 * such a size reads or reserves memory beyond the file.
 */
export function* parseMp4(bytes: number): Parser<VideoSize> {
  let size: VideoSize | undefined
  const seen: Seen = { boxes: 0 }
  for (let at = 0; at < bytes;) {
    const box = yield* readBox(bytes - at, seen)
    if (!topLevel.has(box.type)) throw broken('it contains a box that is not part of a video')
    if ((box.type === 'ftyp') !== (at === 0)) throw broken('it does not begin as one')
    if (box.type === 'ftyp') yield* readBrands(box.left)
    else if (box.type === 'moov') size = (yield* readWithin(box.left, 'trak', readTrack, seen)) ?? size
    else yield* skip(box.left)
    at += box.size
  }
  if (!size) throw broken('it has no picture')
  return size
}

interface Seen {
  boxes: number
}

interface BoxHead {
  type: string
  size: number
  /** The content after the header of a box. */
  left: number
}

function* readBox(within: number, seen: Seen): Parser<BoxHead> {
  if (++seen.boxes > maxBoxes) throw broken('it has too many parts')
  if (within < 8) throw broken('it is truncated')
  const head = yield { take: 8 }
  const type = head.toString('latin1', 4)
  const short = head.readUInt32BE(0)
  if (short === 1 && within < 16) throw broken('it is truncated')
  const size = short === 1 ? Number((yield { take: 8 }).readBigUInt64BE(0)) : short === 0 ? within : short
  const left = size - (short === 1 ? 16 : 8)
  if (left < 0 || size > within) throw broken('a part of it is larger than the file')
  return { type, size, left }
}

function* readBrands(left: number): Parser<void> {
  if (left < 8 || left > maxFtypBytes) throw broken('it does not begin as one')
  const text = (yield { take: left }).toString('latin1')
  // The second four characters are a version.
  const named = [text.slice(0, 4), ...(text.slice(8).match(/[^]{4}/g) ?? [])]
  if (!named.some((brand) => brands.test(brand))) throw broken('it is of another kind')
}

type ReadBox = (left: number, seen: Seen) => Parser<VideoSize | undefined>

/** The size in the first box of that type. */
function* readWithin(left: number, type: string, read: ReadBox, seen: Seen): Parser<VideoSize | undefined> {
  let size: VideoSize | undefined
  for (let rest = left; rest > 0;) {
    const box = yield* readBox(rest, seen)
    if (box.type === type && !size) size = yield* read(box.left, seen)
    else yield* skip(box.left)
    rest -= box.size
  }
  return size
}

function readTrack(left: number, seen: Seen): Parser<VideoSize | undefined> {
  return readWithin(left, 'tkhd', readTrackHeader, seen)
}

function* readTrackHeader(left: number): Parser<VideoSize | undefined> {
  if (left > maxTkhdBytes) throw broken('it is damaged')
  return sizeOfTrack(yield { take: left })
}

/** Width and height are at the end, after the rotation matrix. A track without a picture has none. */
function sizeOfTrack(header: Buffer): VideoSize | undefined {
  const matrixAt = header.length - 8 - 36
  if (matrixAt < 0) throw broken('it is damaged')
  const wide = header.readUInt32BE(header.length - 8) >>> 16
  const high = header.readUInt32BE(header.length - 4) >>> 16
  if (wide === 0 || high === 0) return undefined
  if (Math.max(wide, high) > maxSide) throw broken('its picture is too large')
  const onItsSide = header.readInt32BE(matrixAt) === 0 && header.readInt32BE(matrixAt + 4) !== 0
  return onItsSide ? { width: high, height: wide } : { width: wide, height: high }
}

function* skip(bytes: number): Parser<void> {
  if (bytes > 0) yield { skip: bytes }
}

function broken(why: string): UploadMismatch {
  return new UploadMismatch(`The MP4 is not accepted: ${why}.`)
}
