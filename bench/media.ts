import { randomBytes } from 'node:crypto'
import { fetchPatiently } from './plan.ts'

/** How large each file is that is served. */
export const fileBytes = 1024 * 1024

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.length, 0)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, content])
}

/** A video of that size. It is stored and served unchanged, and its pictures are noise. */
function noise(): Buffer {
  const track = Buffer.alloc(84)
  track.writeUInt32BE(640 * 65_536, 76)
  track.writeUInt32BE(480 * 65_536, 80)
  const start = [box('ftyp', Buffer.from('isom\0\0\0\0isommp42', 'latin1')), box('moov', box('trak', box('tkhd', track)))]
  const left = fileBytes - start.reduce((sum, { length }) => sum + length, 0) - 8
  return Buffer.concat([...start, box('mdat', randomBytes(left))])
}

/** Uploads a file to the collection and publishes it, as an app would. Returns the path that serves it. */
export async function publishFile(origin: string, collection: string, headers: Record<string, string>): Promise<string> {
  const send = async (method: string, path: string, body?: object) => {
    const res = await fetchPatiently(origin + path, {
      method,
      headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!res.ok) throw new Error(`${method} ${path} answered ${res.status}: ${await res.text()}`)
    return ((await res.json()) as { data: { id: string; upload: { url: string; headers: Record<string, string> } } }).data
  }
  const mime = 'video/mp4'
  const artifacts = `/v1/collections/${collection}/artifacts`
  const { id, upload } = await send('POST', `${artifacts}/upload`, { kind: 'clip', mime, bytes: fileBytes })
  const { pathname, search } = new URL(upload.url)
  const put = await fetchPatiently(origin + pathname + search, {
    method: 'PUT',
    headers: { 'content-type': mime },
    body: new Uint8Array(noise()),
  })
  if (!put.ok) throw new Error(`the upload answered ${put.status}: ${await put.text()}`)
  await send('POST', `${artifacts}/${id}/ready`)
  await send('PATCH', `${artifacts}/${id}`, { published: true })
  return `/v1/media/${id}`
}
