import { pathOf } from '#http/parse.ts'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { limitAddress, networkOf } from '@atrium/traffic/client-address'
import { ArrivingBodies } from '@atrium/traffic/arriving-bodies'
import { limits } from '@atrium/contract/limits'
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify'
import { newRequestId } from '#crypto/random.ts'
import { ApiError, invalid } from '#errors/api-error.ts'
import { rawErrorAnswer } from '#http/error-body.ts'
import { isSlowBodyAllowed } from '#http/slow-bodies.ts'

/** Refuses requests that Node and Fastify accept although two readers could understand them differently. */
export function assertPlainRequest(req: FastifyRequest): void {
  const target = req.raw.url ?? ''
  // An absolute-form target names a host beside the Host header: which one counts would be ambiguous.
  if (target[0] !== '/' && target !== '*') throw invalid('', 'the request target must start with /')
  const percent = target.indexOf('%')
  if (percent !== -1 && hiddenByte.test(pathOf(target)))
    throw invalid('', 'the path may not hold an encoded slash, backslash or NUL')
  if (req.raw.httpVersionMajor !== 1) throw invalid('', 'only HTTP/1.0 and HTTP/1.1 are supported')
  const hasHost = assertSentOnce(req.raw.rawHeaders)
  if (!hasHost && req.raw.httpVersion !== '1.0') throw invalid('Host', 'must be sent once')
}

const hiddenByte = /%(?:00|2f|5c)/i

/**
 * The headers that are sent at most once. They name the host, the caller and the repeats of a request. Host is the
 * first.
 */
const once = ['Host', 'Authorization', 'X-API-Key', 'X-Collection-Token', 'X-Admin-Token', 'X-ID-Token', 'Idempotency-Key'].map(
  (name) => ({ name, lower: name.toLowerCase() }),
)
/** A name of another length is none of these headers. Most names are skipped by this, without a copy in lower case. */
const lengths = new Set(once.map(({ name }) => name.length))

/**
 * Returns whether there is a Host. Of several Host or Authorization headers, Node keeps the first without an error,
 * and a proxy in front may have used another one. Of the other headers, Node joins the values with a comma.
 */
function assertSentOnce(rawHeaders: string[]): boolean {
  // One bit for each header that was seen.
  let seen = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] ?? ''
    if (!lengths.has(sent.length)) continue
    const lower = sent.toLowerCase()
    const index = once.findIndex((header) => header.lower === lower)
    const header = once[index]
    if (!header) continue
    const bit = 1 << index
    if (seen & bit) throw invalid(header.name, 'must be sent once')
    seen |= bit
  }
  return (seen & 1) === 1
}

/** Answers a request that is not HTTP, arrives too slowly, or has headers that are too large. */
export function answerClientError(publicUrl: string, error: NodeJS.ErrnoException, socket: Socket): void {
  // Nothing can be sent on a closed connection, or in the middle of an answer. Node's own handler checks the same.
  const answering = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true
  if (error.code === 'ECONNRESET' || !socket.writable || answering) {
    socket.destroy(error)
    return
  }
  // Node reports it once for each request and takes no action itself.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isSlowBodyAllowed(socket)) return
  const id = newRequestId()
  if (error.code === 'HPE_HEADER_OVERFLOW') socket.end(rawErrorAnswer('headers_too_large', id, publicUrl))
  // A connection that is closed in one direction could still deliver the rest, and the request would be carried out.
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    socket.end(rawErrorAnswer('request_timeout', id, publicUrl), () => socket.destroy())
  else socket.end(rawErrorAnswer('invalid_request', id, publicUrl, 'This is not a well-formed HTTP/1.1 request.'))
}

/** Node would answer an unknown expectation with 417 and without a body. */
export function answerUnknownExpectation(publicUrl: string, res: ServerResponse): void {
  res.socket?.end(rawErrorAnswer('invalid_request', newRequestId(), publicUrl, 'Expect: only 100-continue is known.'))
}

/** One for the process, because it limits the memory of the process. */
const bodies = new ArrivingBodies({
  bodyBytes: limits.bodyBytes,
  tooLarge: () => new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE(),
  tooMany: () => new ApiError('unavailable', { message: 'Too many request bodies arrive at once.', retryAfterSeconds: 5 }),
  // As other requests that are not well-formed: whoever leaves causes no fault of the server.
  cutOff: () => new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH(),
})

/**
 * Takes the body as bytes: it is parsed, strictly, once the caller is authenticated. Refuses every other media type.
 */
export function takeJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', (req, payload, done) => {
    const senderOf = () => {
      const address = limitAddress(req.ip)
      // An IPv6 network of /48 has 65,536 of these addresses.
      return networkOf(address, 48) ?? address
    }
    bodies.read(payload, senderOf, (error, body) => {
      // A compressed body would be refused as JSON that is not valid, or be read where only the header is wrong.
      const coding = req.headers['content-encoding'] ?? 'identity'
      const refused = coding.toLowerCase() !== 'identity' && !req.is404
      done(error ?? (refused ? invalid('Content-Encoding', 'must not be sent: bodies are not compressed') : null), body)
    })
  })
  // Clients send another type with an empty body, such as `curl -X POST -d ''`. An empty body cannot be misread.
  app.addContentTypeParser('*', (req, _payload, done) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = req.headers
    const empty = length === '0' && coding === undefined
    done(empty || req.is404 ? null : new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE())
  })
}
