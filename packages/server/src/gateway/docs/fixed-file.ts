import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendBody } from '#http/bound-unread.ts'

const pack = promisify(gzip)
/** Smaller files fit into one packet anyway. */
const packedFromBytes = 1_400

export interface FixedFile {
  plain: Buffer
  packed: Buffer | undefined
  /** Weak, because the compressed and the plain form share it (RFC 9110, 8.8.1). */
  etag: string
}

export async function fixedFile(content: string | Buffer): Promise<FixedFile> {
  const plain = Buffer.from(content)
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  return { plain, packed: plain.length < packedFromBytes ? undefined : await pack(plain), etag }
}

/** Made on the first request. A failure is not cached. */
export function onceMade<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    }))
}

/** The client asks each time whether the file has changed. */
const askAgain = 'public, max-age=0, must-revalidate'

/** Sends the file with an ETag: 304 if the client has it, and compressed if the client accepts that. */
export function sendFixedFile(
  req: FastifyRequest,
  reply: FastifyReply,
  { plain, packed, etag }: FixedFile,
  cacheControl = askAgain,
): FastifyReply {
  const vary = [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', ')
  reply.header('etag', etag).header('cache-control', cacheControl).header('vary', vary)
  const known = req.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known?.includes(etag.slice(2)) || known?.includes('*')) return reply.code(304).removeHeader('content-type').send()
  if (!packed || !/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(req.headers['accept-encoding'] ?? ''))
    return sendBody(req, reply, plain)
  return sendBody(req, reply.header('content-encoding', 'gzip'), packed)
}
