import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendBody } from '#http/bound-unread.ts'

const pack = promisify(gzip)
/** Smaller ones fit in a packet anyway. */
const packedFromBytes = 1_400

export interface FixedFile {
  plain: Buffer
  packed: Buffer | undefined
  /** Weak, since the two forms share it (RFC 9110, 8.8.1). */
  etag: string
}

export async function fixedFile(content: string | Buffer): Promise<FixedFile> {
  const plain = Buffer.from(content)
  const etag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
  return { plain, packed: plain.length < packedFromBytes ? undefined : await pack(plain), etag }
}

/** Made once, when it is first asked for; a failure is not kept. */
export function onceMade(make: () => Promise<FixedFile>): () => Promise<FixedFile> {
  let made: Promise<FixedFile> | undefined
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    }))
}

/** With its ETag; 304 to whoever has it, packed for whoever can take it. */
export function sendFixedFile(req: FastifyRequest, reply: FastifyReply, { plain, packed, etag }: FixedFile): FastifyReply {
  const vary = [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', ')
  reply.header('etag', etag).header('cache-control', 'public, max-age=0, must-revalidate').header('vary', vary)
  const known = req.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known?.includes(etag.slice(2)) || known?.includes('*')) return reply.code(304).removeHeader('content-type').send()
  if (!packed || !/\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(req.headers['accept-encoding'] ?? ''))
    return sendBody(req, reply, plain)
  return sendBody(req, reply.header('content-encoding', 'gzip'), packed)
}
