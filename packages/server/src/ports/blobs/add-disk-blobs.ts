import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, invalid } from '../../http/api-error.ts'
import { applyCors } from '../../http/cors.ts'
import { pacedBody } from '../../http/paced-body.ts'
import { sendBlob } from '../../http/send-blob.ts'
import { BlobError } from './blobs.ts'
import type { DiskBlobs } from './disk-blobs.ts'
import type { UploadGrant } from './disk/blob-url.ts'

const idleMs = 30_000
/** 256 kbit/s. Who is slower than this for 100 MiB would hold a connection for hours. */
const minBytesPerSecond = 32 * 1024

/** Of a refused upload. */
const discardedBytes = 100 * 1024 * 1024

interface BlobRequest {
  Params: { '*': string }
  Querystring: Record<string, unknown>
}

/** The addresses that DiskBlobs signs: PUT takes an upload, GET gives a file. Whoever holds one needs no key, so any page may use it. */
export function addDiskBlobs(app: FastifyInstance, blobs: DiskBlobs): void {
  const url = '/v1/blobs/*'
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    // Not read here: chunk by chunk into its file, later.
    scope.addContentTypeParser('*', (_req, body, done) => done(null, body))
    scope.addHook('onRequest', (_req, reply, done) => {
      applyCors(reply)
      done()
    })
    scope.options(url, async (_req, reply) =>
      reply
        .code(204)
        .header('access-control-allow-methods', 'PUT, GET, HEAD')
        .header('access-control-allow-headers', 'Content-Type, Range, If-None-Match, If-Range')
        .header('access-control-max-age', '7200')
        .send(),
    )
    scope.put<BlobRequest>(url, async (req, reply) => {
      const grant = uploadGrantOf(blobs, req, reply)
      const { etag } = await receive(blobs, req, grant).catch((error: unknown) => {
        // What is still coming is not worth waiting for.
        reply.header('connection', 'close')
        throw apiErrorOf(error)
      })
      return reply.header('etag', `"${etag}"`).send()
    })
    scope.get<BlobRequest>(url, async (req, reply) => {
      const { key, mime } = grantOf(blobs, req, 'GET')
      const stat = await blobs.stat(key)
      if (!stat) throw new ApiError('not_found')
      return sendBlob(req, reply, blobs, { key, mime, ...stat, cacheControl: 'private, max-age=60' })
    })
  })
}

function receive(blobs: DiskBlobs, req: FastifyRequest, grant: UploadGrant) {
  const pace = { idleMs, totalMs: 60_000 + (grant.bytes / minBytesPerSecond) * 1_000 }
  return blobs.receive(grant, pacedBody(req.raw, req.id, pace))
}

function grantOf<M extends 'PUT' | 'GET'>(blobs: DiskBlobs, req: FastifyRequest<BlobRequest>, method: M) {
  const grant = blobs.grantOf(method, req.params['*'], req.query)
  if (typeof grant === 'string') {
    const message =
      grant === 'expired' ? 'The time of this address is over. Ask for a new one.' : 'This address was not signed here.'
    throw new ApiError('not_authorized', { reason: grant, message })
  }
  return grant as Extract<typeof grant, { method: M }>
}

/** Type and length are part of what was signed: anything else is refused before a byte of it is read. */
function uploadGrantOf(blobs: DiskBlobs, req: FastifyRequest<BlobRequest>, reply: FastifyReply): UploadGrant {
  const announced = req.headers['content-length']
  const length = announced === undefined ? undefined : Number(announced)
  try {
    const grant = grantOf(blobs, req, 'PUT')
    if (req.headers['content-type'] !== grant.mime) throw invalid('Content-Type', `must be ${grant.mime}`)
    if (length === undefined) throw invalid('Content-Length', `must be ${grant.bytes}; chunked bodies are not taken`)
    if (length > grant.bytes) throw new ApiError('payload_too_large', { message: `This address takes ${grant.bytes} bytes.` })
    if (length < grant.bytes) throw invalid('Content-Length', `must be ${grant.bytes}`)
    return grant
  } catch (error) {
    // What still comes is thrown away within the server's own time: a reset would lose the answer for a browser in mid-upload.
    if (length === undefined || length > discardedBytes) reply.header('connection', 'close')
    throw error
  }
}

function apiErrorOf(error: unknown): unknown {
  if (!(error instanceof BlobError)) return error
  if (error.code === 'mismatch') return invalid('', error.message)
  if (error.code === 'unavailable') return new ApiError('unavailable', { retryAfterSeconds: 30, cause: error })
  return error
}
