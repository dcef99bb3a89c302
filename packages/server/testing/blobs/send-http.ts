import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface HttpAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/**
 * Sends one request with exactly this target and these headers. fetch would add or correct what these tests get wrong
 * deliberately.
 */
export function sendHttp(method: string, url: string, headers: OutgoingHttpHeaders = {}, body?: Buffer): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const [, origin = '', path = ''] = /^(http:\/\/[^/]+)(.*)$/.exec(url) ?? []
    const req = request(origin, { method, path, headers, agent: false }, (res) => {
      buffer(res).then((body) => resolve({ status: res.statusCode!, headers: res.headers, body }), reject)
    })
    // A server that answers early may close the connection during the request. Only the answer counts.
    req.once('error', reject)
    req.end(body)
  })
}

/** Sends the head of a request and part of its body, waits until they have been sent, and disconnects. */
export function breakOff(url: string, headers: OutgoingHttpHeaders, part: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const req = request(url, { method: 'PUT', headers, agent: false })
    req.once('error', () => resolve())
    req.once('close', () => resolve())
    req.write(part, () => req.destroy())
  })
}
