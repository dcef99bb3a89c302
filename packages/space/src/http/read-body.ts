import type { IncomingMessage } from 'node:http'
import { requestLimits } from '@atrium/contract/request-limits'
import { JsonError, parseStrictJson } from '@atrium/contract/strict-json'
import { ArrivingBodies } from '@atrium/traffic/arriving-bodies'
import { networkOf } from '@atrium/traffic/client-address'
import { SpaceError } from '../space-error.ts'

/** One for the process, because it limits the memory of the process. */
const bodies = new ArrivingBodies({
  bodyBytes: requestLimits.bodyBytes,
  tooLarge: () => new SpaceError('payload_too_large', 'a body goes up to 256 KiB'),
  tooMany: () => new SpaceError('unavailable', 'too many bodies arrive at once', 5),
  cutOff: () => new SpaceError('invalid_request', 'the body has no end'),
})

/**
 * Reads a JSON body of at most 256 KiB from the caller with this key. Errors never quote the text, because it contains
 * a room key.
 */
export async function readBody(req: IncomingMessage, key: string): Promise<unknown> {
  if (!/^application\/json\b/i.test(req.headers['content-type'] ?? '')) {
    throw new SpaceError('invalid_request', 'Content-Type must be application/json')
  }
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    // An IPv6 network of /48 has 65,536 of the addresses that are keys.
    bodies.read(
      req,
      () => networkOf(key, 48) ?? key,
      (error, body) => {
        if (body) return resolve(body)
        req.pause()
        reject(error)
      },
    )
  })
  try {
    return parseStrictJson(bytes)
  } catch (error) {
    throw new SpaceError(
      'invalid_request',
      error instanceof JsonError && error.path ? `${error.path} ${error.message}` : 'the body is not valid JSON',
    )
  }
}
