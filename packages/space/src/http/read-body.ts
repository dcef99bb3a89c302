import type { IncomingMessage } from 'node:http'
import { requestLimits } from '@atrium/contract/request-limits'
import { JsonError, parseStrictJson } from '@atrium/contract/strict-json'
import { SpaceError } from '../space-error.ts'

/** Reads a JSON body of at most 256 KiB. Errors never quote the text, because it contains a room key. */
export async function readBody(req: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\b/i.test(req.headers['content-type'] ?? '')) {
    throw new SpaceError('invalid_request', 'Content-Type must be application/json')
  }
  const bytes = await collect(req)
  try {
    return parseStrictJson(bytes)
  } catch (error) {
    throw new SpaceError(
      'invalid_request',
      error instanceof JsonError && error.path ? `${error.path} ${error.message}` : 'the body is not valid JSON',
    )
  }
}

function collect(req: IncomingMessage): Promise<Buffer> {
  const tooLarge = () => new SpaceError('payload_too_large', 'a body goes up to 256 KiB')
  if (Number(req.headers['content-length'] ?? 0) > requestLimits.bodyBytes) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    let [bytes, size]: [Buffer, number] = [Buffer.alloc(0), 0]
    req.on('data', (chunk: Buffer) => {
      const end = size + chunk.length
      if (end > requestLimits.bodyBytes) {
        req.pause()
        reject(tooLarge())
      } else {
        // A list of chunks would take some 300 bytes for each, also for one of a single byte.
        if (end > bytes.length)
          bytes = size === 0 ? chunk : Buffer.concat([bytes.subarray(0, size)], Math.min(2 * end, requestLimits.bodyBytes))
        size += chunk.copy(bytes, size)
      }
    })
    req.on('end', () => resolve(bytes.subarray(0, size)))
    req.on('error', reject)
  })
}
