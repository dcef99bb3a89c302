import { crc32 } from 'node:zlib'

export interface ZipEntry {
  path: string
  body: Uint8Array
}

/** 1980-01-01, the earliest date of the format, so that archives of equal files are equal. */
const dosDate = 0x21
/** UTF-8 names. */
const flags = 0x0800
const regularFile = 0o100644

/** Writes a zip archive whose entries are stored, not compressed (APPNOTE 6.3.3). Equal entries give equal bytes. */
export function makeZip(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { path, body } of entries) {
    const name = Buffer.from(path)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fieldsOf(body, name), name, body])
    const central = Buffer.alloc(14)
    // The attributes, then the position of the local header. Comment and disk number are empty.
    central.writeUInt32LE((regularFile << 16) >>> 0, 6)
    central.writeUInt32LE(offset, 10)
    // Made by version 2.0 on Unix.
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), fieldsOf(body, name), central, name]))
    parts.push(local)
    offset += local.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, listed, end])
}

/**
 * The fields that the local header and the directory share: version, flags, method, time, date, CRC, sizes, length of
 * the name.
 */
function fieldsOf(body: Uint8Array, name: Buffer): Buffer {
  const fields = Buffer.alloc(26)
  fields.writeUInt16LE(20, 0)
  fields.writeUInt16LE(flags, 2)
  fields.writeUInt16LE(dosDate, 8)
  fields.writeUInt32LE(crc32(body), 10)
  fields.writeUInt32LE(body.length, 14)
  fields.writeUInt32LE(body.length, 18)
  fields.writeUInt16LE(name.length, 22)
  return fields
}
