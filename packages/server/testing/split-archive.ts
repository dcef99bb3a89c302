import { Readable } from 'node:stream'
import { readTar, tarEnd, tarHeader, tarPadding } from '#features/backup/tar.ts'

export interface Member {
  name: string
  data: Buffer
}

/** The files of an archive of `atrium backup`. */
export async function splitArchive(archive: Buffer): Promise<Member[]> {
  const members: Member[] = []
  for await (const { name, body } of readTar(Readable.from([archive]))) {
    const parts: Buffer[] = []
    for await (const part of body) parts.push(part)
    members.push({ name, data: Buffer.concat(parts) })
  }
  return members
}

const at = new Date('2026-11-20T09:30:00Z')

export function joinMembers(members: Member[]): Buffer {
  return Buffer.concat([...members.flatMap(({ name, data }) => [member(name, data)]), tarEnd])
}

/** As tar has it; the size in the header may differ from that of the data. */
export function member(name: string, data: Buffer, { bytes = data.length, type = '0' } = {}): Buffer {
  // The name is written over a header with another one, because the writer refuses names that no archive has.
  const header = tarHeader('x', bytes, at)
  header.fill(0, 0, 100)
  header.write(name, 0, 100, 'latin1')
  header.write(type, 156)
  header.write('        ', 148)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, data, tarPadding(data.length)])
}
