import { request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface SlowRequest {
  /** The answer has a code if it is an error. */
  answered: Promise<{ status: number; code: string | undefined }>
  /** Sends the rest of the body. */
  end(): void
}

/** Sends the headers of a POST request and the first byte of its body now, and the rest later. */
export async function beginSlowly(url: string, key: string, body: object): Promise<SlowRequest> {
  const bytes = Buffer.from(JSON.stringify(body))
  const req = request(url, {
    agent: false,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': bytes.length },
  })
  const answered = new Promise<{ status: number; code: string | undefined }>((resolve, reject) => {
    req.once('error', reject)
    req.once('response', (res) =>
      text(res).then((sent) => resolve({ status: res.statusCode!, code: JSON.parse(sent).error?.code }), reject),
    )
  })
  const isConnected = new Promise((resolve) => req.once('socket', (socket) => socket.once('connect', resolve)))
  req.write(bytes.subarray(0, 1))
  await isConnected
  return { answered, end: () => req.end(bytes.subarray(1)) }
}
