import { PictureError } from '../picture-error.ts'
import { boxesIn, boxesOf, type Box } from './boxes.ts'
import { readItems, type Items } from './avif-items.ts'
import { joinRanges, type Piece, type SourceFile } from './source-file.ts'

const maxMetaBytes = 1024 * 1024

/**
 * Returns the file with zeros for all data that no picture in it refers to: an AVIF stores EXIF and XMP as items
 * beside the picture. Nothing moves, so all offsets in the file stay valid.
 */
export function avifPieces(source: SourceFile): Piece[] {
  const boxes = [...boxesOf(source)]
  for (const { type } of boxes)
    if (!['ftyp', 'meta', 'mdat', 'free', 'skip'].includes(type))
      throw refused(type === 'moov' ? 'animations are accepted as WebP or GIF' : 'it contains more than a picture')
  const metas = boxes.filter(({ type }) => type === 'meta')
  const [meta] = metas
  if (!meta || metas.length > 1 || meta.end - meta.start > maxMetaBytes) throw refused('it is damaged')
  const bytes = source.take(meta.start, meta.end - meta.start)
  const items = readItems(bytes, meta.payload - meta.start + 4)
  const kept = joinRanges(items.extents.filter(({ where }) => where === 'file'))
  return boxes.flatMap((box): Piece[] => {
    if (box.type === 'ftyp') return [{ start: box.start, end: box.end }]
    if (box === meta) return [{ bytes: withoutMetadata(bytes, meta, items) }]
    return [{ start: box.start, end: box.payload }, ...(box.type === 'mdat' ? keepOnly(box, kept) : zeros(box.payload, box.end))]
  })
}

/** The part of the box's payload within the ranges, with zeros between them. */
function keepOnly(box: Box, ranges: { start: number; end: number }[]): Piece[] {
  const pieces: Piece[] = []
  let at = box.payload
  for (const range of ranges) {
    const start = Math.max(range.start, at)
    const end = Math.min(range.end, box.end)
    if (start >= end) continue
    pieces.push(...zeros(at, start), { start, end })
    at = end
  }
  return [...pieces, ...zeros(at, box.end)]
}

/** The boxes that make up a picture. All others, such as texts of the encoder, are removed. */
const metaBoxes = new Set(['hdlr', 'pitm', 'iloc', 'iinf', 'iprp', 'iref', 'idat', 'grpl'])
/** The properties for decoding and display, without names and dates. */
const properties = new Set('ispe pixi av1C colr pasp clap irot imir auxC a1op lsel a1lx clli mdcv'.split(' '))

/**
 * The items that are not pictures lose their types, so that no reader searches for them. Small items may be within
 * the meta box itself.
 */
function withoutMetadata(meta: Buffer, box: Box, { extents, otherTypes, names }: Items): Buffer {
  const out = Buffer.from(meta)
  for (const at of otherTypes) out.write('free', at, 'latin1')
  for (const { start, end } of names) out.fill(0, start, end)
  for (const child of boxesIn(meta, box.payload - box.start + 4, meta.length)) {
    if (!metaBoxes.has(child.type)) empty(out, child)
    else if (child.type === 'hdlr') out.fill(0, Math.min(child.payload + handlerBytes, child.end), child.end)
    else if (child.type === 'iprp') keepProperties(out, child)
    else if (child.type === 'idat') keepData(meta, out, child, extents)
  }
  return out
}

/** These are followed by the name of the program that wrote the file. */
const handlerBytes = 24

/** Items refer to properties by position, so a removed property is replaced by an empty one. */
function keepProperties(out: Buffer, iprp: Box): void {
  for (const child of boxesIn(out, iprp.payload, iprp.end)) {
    if (child.type === 'ipco') {
      for (const property of boxesIn(out, child.payload, child.end)) if (!properties.has(property.type)) empty(out, property)
    } else if (child.type !== 'ipma') empty(out, child)
  }
}

function keepData(meta: Buffer, out: Buffer, idat: Box, extents: Items['extents']): void {
  out.fill(0, idat.payload, idat.end)
  for (const { where, start, end } of extents) {
    if (where === 'idat') meta.copy(out, idat.payload + start, idat.payload + start, Math.min(idat.payload + end, idat.end))
  }
}

/** Of the same size, because nothing may move. */
function empty(out: Buffer, { start, payload, end }: Box): void {
  out.write('free', start + 4, 'latin1')
  out.fill(0, payload, end)
}

function zeros(from: number, to: number): Piece[] {
  return to > from ? [{ zeros: to - from }] : []
}

function refused(why: string): PictureError {
  return new PictureError('refused', `The AVIF is not accepted: ${why}.`)
}
