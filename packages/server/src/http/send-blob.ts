import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Blobs } from '#ports/blobs/blobs.ts'
import { parseByteRange } from './byte-range.ts'
import { sendStream, writeHead } from './send-stream.ts'

export interface BlobAnswer {
  key: string
  mime: string
  bytes: number
  /** A strong ETag without quotes: it identifies the exact bytes. */
  etag: string
  cacheControl: string
  /** Called once the status is known. */
  onStatus?: (status: number) => void
  /** Called at the end with the number of body bytes that were sent. */
  onSent?: (bytes: number) => void
}

/** Blobs are untrusted: opened in a tab, they must run no script and load nothing. */
const policy = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox"

/** Streams a blob: one range, If-Range, If-None-Match, HEAD. */
export async function sendBlob(req: FastifyRequest, reply: FastifyReply, blobs: Blobs, blob: BlobAnswer): Promise<FastifyReply> {
  const etag = `"${blob.etag}"`
  reply.headers({
    'content-type': blob.mime,
    etag,
    'cache-control': blob.cacheControl,
    'accept-ranges': 'bytes',
    'content-security-policy': policy,
    'cross-origin-resource-policy': 'cross-origin',
  })
  if (namesTag(req.headers['if-none-match'], etag)) {
    blob.onStatus?.(304)
    return reply.code(304).send()
  }
  const ifRange = req.headers['if-range']
  const ranged = req.method === 'GET' && (ifRange === undefined || ifRange === etag)
  const range = ranged ? parseByteRange(req.headers.range, blob.bytes) : undefined
  // An empty stream, because without a body Fastify would set Content-Length to 0.
  if (req.method === 'HEAD') {
    blob.onStatus?.(200)
    return reply.header('content-length', blob.bytes).send(Readable.from([]))
  }
  const { stream, contentBytes } = await blobs.read(blob.key, range)
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${blob.bytes}`)
  reply.header('content-length', contentBytes).hijack()
  writeHead(reply)
  blob.onStatus?.(reply.statusCode)
  await sendStream(reply.raw, stream).then(blob.onSent, (error: unknown) =>
    req.log.error({ request_id: req.id, err: error }, 'a file was sent incompletely'),
  )
  return reply
}

/** If-None-Match (RFC 9110, 13.1.2): a list of tags, compared weakly, or a star. */
function namesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}
