import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '@atrium/contract/limits'
import { ApiError, invalid } from '#errors/api-error.ts'
import { applyCors } from '#http/cors.ts'
import { pacedBody } from '#http/paced-body.ts'
import { BlobError } from '#ports/blobs/blobs.ts'
import type { DiskBlobs } from '#ports/blobs/disk-blobs.ts'
import type { UploadGrant } from '#ports/blobs/disk/blob-url.ts'
import { minBytesPerSecond } from '#ports/blobs/disk/growing-files.ts'

const idleMs = 30_000

/** The largest rest of a refused upload that is read. */
const discardedBytes = 100 * 1024 * 1024

interface BlobRequest {
  Params: { '*': string }
  Querystring: Record<string, unknown>
}

export interface DiskBlobRules {
  /** The origin of the API. */
  publicUrl: string
  /** Whether the key still expects an upload. */
  isOpen(key: string): Promise<boolean>
  /** Whether a backup that runs needs blobs of which the row is gone. */
  areDeletionsHeld(): Promise<boolean>
  /** Counts a request without a valid signature; calls `done` with an error if there are too many of them. */
  countRefusal(req: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void
}

/** Receives the uploads to the URLs that DiskBlobs signs. The signature replaces a key, so any page may use the URL. */
export function addDiskBlobs(app: FastifyInstance, blobs: DiskBlobs, rules: DiskBlobRules): void {
  const url = '/v1/blobs/*'
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    // The body is not parsed here: the handler writes it to a file, chunk by chunk.
    scope.addContentTypeParser('*', (_req, body, done) => done(null, body))
    scope.addHook('onRequest', (_req, reply, done) => {
      applyCors(reply)
      done()
    })
    scope.options(url, async (_req, reply) =>
      reply
        .code(204)
        .header('access-control-allow-methods', 'PUT')
        .header('access-control-allow-headers', 'Content-Type')
        .header('access-control-max-age', '7200')
        .send(),
    )
    scope.put<BlobRequest>(url, async (req, reply) => {
      const grant = await uploadGrantOf(blobs, rules, req, reply)
      const { etag } = await receive(blobs, rules.publicUrl, req, grant).catch(async (error: unknown) => {
        await discardRest(req, reply)
        throw apiErrorOf(error)
      })
      // The upload was completed or removed while its bytes arrived, so nothing refers to them but the snapshot of a backup,
      // which may have the row of an earlier upload to this address. What is left here is found by the sweep or the search
      // for orphans.
      if (!(await rules.isOpen(grant.key))) {
        if (!(await rules.areDeletionsHeld().catch(() => true))) await blobs.delete([grant.key])
        throw uploadOver()
      }
      return reply.header('etag', `"${etag}"`).send()
    })
  })
}

function receive(blobs: DiskBlobs, publicUrl: string, req: FastifyRequest, grant: UploadGrant) {
  const pace = { publicUrl, idleMs, totalMs: 60_000 + (grant.bytes / minBytesPerSecond) * 1_000 }
  return blobs.receive(grant, pacedBody(req.raw, req.id, pace))
}

async function grantOf(blobs: DiskBlobs, rules: DiskBlobRules, req: FastifyRequest<BlobRequest>, reply: FastifyReply) {
  const grant = blobs.grantOf(req.params['*'], req.query)
  if (typeof grant === 'string') {
    const signed = grant === 'expired'
    if (!signed) closeUnlessSmall(req, reply)
    const message = signed ? 'The time of this address is over. Ask for a new one.' : 'This address was not signed here.'
    return refuse(rules, req, reply, new ApiError('not_authorized', { reason: grant, message }))
  }
  return grant
}

/** Counts the request like one with a wrong key, so that callers without a valid URL are limited too. */
async function refuse(rules: DiskBlobRules, req: FastifyRequest, reply: FastifyReply, refusal: ApiError): Promise<never> {
  await new Promise<void>((resolve, reject) => {
    rules.countRefusal(req, reply, (tooMany) => (tooMany ? reject(tooMany) : resolve()))
  }).catch((tooMany: unknown) => {
    closeUnlessSmall(req, reply)
    throw tooMany
  })
  throw refusal
}

/** From a caller without a valid URL, no more is read and discarded than the body of any other request. */
function closeUnlessSmall(req: FastifyRequest, reply: FastifyReply): void {
  if (!(bodyBytes(req) <= limits.bodyBytes)) reply.header('connection', 'close')
}

/** NaN: the request announces no length. */
function bodyBytes({ headers }: Pick<FastifyRequest, 'headers'>): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : NaN
}

/** Type and length are part of the signature: a request with others is refused before its body is read. */
async function uploadGrantOf(
  blobs: DiskBlobs,
  rules: DiskBlobRules,
  req: FastifyRequest<BlobRequest>,
  reply: FastifyReply,
): Promise<UploadGrant> {
  const announced = req.headers['content-length']
  const length = announced === undefined ? undefined : Number(announced)
  try {
    const grant = await grantOf(blobs, rules, req, reply)
    if (req.headers['content-type'] !== grant.mime) throw invalid('Content-Type', `must be ${grant.mime}`)
    if (length === undefined) throw invalid('Content-Length', `must be ${grant.bytes}; chunked bodies are not accepted`)
    if (length > grant.bytes) throw new ApiError('payload_too_large', { message: `This address takes ${grant.bytes} bytes.` })
    if (length < grant.bytes) throw invalid('Content-Length', `must be ${grant.bytes}`)
    if (!(await rules.isOpen(grant.key))) return await refuse(rules, req, reply, uploadOver())
    return grant
  } catch (error) {
    await discardRest(req, reply)
    throw error
  }
}

/**
 * The rest of the body is read and discarded within the time limit of the server: a reset of the connection would lose
 * the answer for a browser that is still sending. Node itself discards only a body of which nothing was read, and it
 * reports the time limit once, which may have been while the upload had a longer one.
 */
async function discardRest({ raw, server, headers }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (raw.destroyed || !(bodyBytes({ headers }) <= discardedBytes)) {
    reply.header('connection', 'close')
    return
  }
  // If the connection is not kept alive, Node closes it after the answer, and a caller that is still sending may lose the
  // answer. So the answer waits for the end of the body, but not longer than the time limit.
  const endsAfter = !reply.raw.shouldKeepAlive && !reply.hasHeader('connection')
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => (endsAfter ? resolve() : raw.destroy()), server.server.requestTimeout)
    raw.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
    raw.resume()
    if (!endsAfter || raw.complete) resolve()
  })
}

function uploadOver(): ApiError {
  const message = 'This upload is over: it is complete, or its artifact was removed.'
  return new ApiError('not_authorized', { reason: 'expired', message })
}

function apiErrorOf(error: unknown): unknown {
  if (!(error instanceof BlobError)) return error
  if (error.code === 'mismatch') return invalid('', error.message)
  if (error.code === 'superseded') {
    const message =
      'Another upload to this address has begun and ended this one. Wait for it, or send all bytes again, which ends it.'
    return new ApiError('state_conflict', { message })
  }
  if (error.code === 'unavailable') return new ApiError('unavailable', { retryAfterSeconds: 30, cause: error })
  return error
}
