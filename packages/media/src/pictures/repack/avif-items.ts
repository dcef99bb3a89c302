import { PictureError } from '../picture-error.ts'
import { boxesIn } from './boxes.ts'

/** A part of a picture: in the file, or in the data of the meta box. */
interface Extent {
  where: 'file' | 'idat'
  start: number
  end: number
}

/**
 * The types of coded pictures and their compositions. Other items, such as Exif and mime (XMP), only describe them.
 */
const pictureTypes = new Set(['av01', 'grid', 'iovl', 'iden', 'tmap'])
const maxExtents = 10_000

export interface Items {
  /** Where the data of the pictures is. */
  extents: Extent[]
  /** The positions of the types of all other items, four bytes each. */
  otherTypes: number[]
  /** The data after the types: the names of all items, and the content types of the others. */
  names: { start: number; end: number }[]
}

/**
 * Reads the items of a meta box (ISO/IEC 14496-12, 8.11.3 and 8.11.6). `from` is the position after its header and
 * flags.
 */
export function readItems(meta: Buffer, from: number): Items {
  const children = boxesIn(meta, from, meta.length)
  const payloadOf = (type: string) => {
    const [box, ...others] = children.filter((one) => one.type === type)
    if (!box || others.length > 0) throw broken()
    return { start: box.payload, end: box.end }
  }
  try {
    const info = payloadOf('iinf')
    const { pictures, ...told } = readTypes(meta, info.start, info.end)
    const locations = payloadOf('iloc')
    return { extents: readExtents(new Reader(meta.subarray(locations.start, locations.end)), pictures), ...told }
  } catch (error) {
    // A field beyond the end of the box.
    throw error instanceof RangeError ? broken() : error
  }
}

function readTypes(meta: Buffer, start: number, end: number) {
  const first = start + (meta[start] === 0 ? 6 : 8)
  const pictures = new Set<number>()
  const otherTypes: number[] = []
  const names: Items['names'] = []
  for (const { type, payload, end: itemEnd } of boxesIn(meta, first, end)) {
    const version = meta[payload]
    if (type !== 'infe' || version === undefined || version < 2) throw broken()
    const idBytes = version === 2 ? 2 : 4
    const id = meta.readUIntBE(payload + 4, idBytes)
    const typeAt = payload + 4 + idBytes + 2
    if (pictureTypes.has(meta.toString('latin1', typeAt, typeAt + 4))) pictures.add(id)
    else otherTypes.push(typeAt)
    names.push({ start: typeAt + 4, end: itemEnd })
  }
  return { pictures, otherTypes, names }
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  number(bytes: number): number {
    this.#at += bytes
    if (bytes === 0) return 0
    if (bytes === 8) return Number(this.#bytes.readBigUInt64BE(this.#at - 8))
    return this.#bytes.readUIntBE(this.#at - bytes, bytes)
  }
}

function readExtents(reader: Reader, pictures: Set<number>): Extent[] {
  const version = reader.number(1)
  reader.number(3)
  const sizes = reader.number(2)
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15] as const
  const indexBytes = version > 0 ? sizes & 15 : 0
  if (version > 2 || [offsetBytes, lengthBytes, baseBytes, indexBytes].some((size) => ![0, 4, 8].includes(size))) throw broken()
  const count = reader.number(version < 2 ? 2 : 4)
  const extents: Extent[] = []
  for (let item = 0; item < count; item++) {
    const id = reader.number(version < 2 ? 2 : 4)
    const method = version > 0 ? reader.number(2) & 15 : 0
    const elsewhere = reader.number(2) !== 0
    const base = reader.number(baseBytes)
    const parts = reader.number(2)
    // Data in another file, or composed of the data of other items.
    if (pictures.has(id) && (elsewhere || method > 1)) throw broken()
    if (extents.length + parts > maxExtents) throw broken()
    for (let part = 0; part < parts; part++) {
      reader.number(indexBytes)
      const start = base + reader.number(offsetBytes)
      const length = reader.number(lengthBytes)
      // 0 means the whole file. No encoder writes that, and it could hide metadata.
      if (!pictures.has(id)) continue
      if (length === 0) throw broken()
      extents.push({ where: method === 1 ? 'idat' : 'file', start, end: start + length })
    }
  }
  return extents
}

function broken(): PictureError {
  return new PictureError('refused', 'The AVIF is damaged, or uses a structure that is not accepted.')
}
