import { pipeline, Transform, type Readable } from 'node:stream'
import { BlobError, type SizedStream } from '../blobs.ts'

/** A stream that fails before its end if the number of bytes differs from the announced length. */
export function exactLength({ stream, bytes }: SizedStream, onFailure: (error: Error) => void): Readable {
  let seen = 0
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      done(seen > bytes ? new BlobError('mismatch', `more than the ${bytes} bytes announced`) : null, chunk)
    },
    flush(done) {
      done(seen < bytes ? new BlobError('mismatch', `${seen} bytes instead of the ${bytes} announced`) : null)
    },
  })
  return pipeline(stream, counting, (error) => {
    if (error) onFailure(error)
  })
}
