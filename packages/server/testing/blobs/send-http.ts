import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface HttpAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/**
 * One request with just this target and these headers: fetch would put in, or correct, what these tests get wrong on
 * purpose.
 */
export function sendHttp(method: string, url: string, headers: OutgoingHttpHeaders = {}, body?: Buffer): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const [, origin = '', path = ''] = /^(http:\/\/[^/]+)(.*)$/.exec(url) ?? []
    const req = request(origin, { method, path, headers, agent: false }, (res) => {
      buffer(res).then((body) => resolve({ status: res.statusCode!, headers: res.headers, body }), reject)
    })
    // A server that answers early may end the connection while we still send: the answer is what counts.
    req.once('error', reject)
    req.end(body)
  })
}

/** Sends the head of a request and some of its body, then waits until that has gone out, and hangs up. */
export function breakOff(url: string, headers: OutgoingHttpHeaders, part: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const req = request(url, { method: 'PUT', headers, agent: false })
    req.once('error', () => resolve())
    req.once('close', () => resolve())
    req.write(part, () => req.destroy())
  })
}
