import { Readable, Transform } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { BlobError } from '../blobs.ts'

/** Twice the size of a list of a thousand keys of a kilobyte. */
const maxAnswerBytes = 4 * 1024 * 1024

interface Answer {
  statusCode?: number
  body?: unknown
}

/**
 * Limits the size of responses. The client buffers each one before parsing, so a broken store could exhaust the
 * memory. With `errorsOnly` a success is not limited: a blob is read as a stream of known length.
 */
export function capAnswers(client: S3Client, { errorsOnly }: { errorsOnly: boolean }): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      const answer = result.response as Answer
      const isError = (answer.statusCode ?? 0) >= 300
      if (answer.body instanceof Readable && (isError || !errorsOnly)) answer.body = capped(answer.body)
      return result
    },
    // The innermost middleware, so that all others read the capped body.
    { step: 'deserialize', name: 'capAnswers', priority: 'low' },
  )
}

function capped(body: Readable): Readable {
  let bytes = 0
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maxAnswerBytes) done(new BlobError('unavailable', 'the answer of the object storage does not end'))
      else done(null, chunk)
    },
  })
  body.once('error', (error) => counting.destroy(error))
  body.once('close', () => {
    if (!body.readableEnded) counting.destroy(new BlobError('unavailable', 'the answer of the object storage breaks off'))
  })
  counting.once('close', () => body.destroy())
  return body.pipe(counting)
}
