import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * Parses the forms of this scope as URLSearchParams, and every other body as an empty form, so that the error names the
 * missing field.
 */
export function takeForms(app: FastifyInstance, maxBytes: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string', bodyLimit: maxBytes }, (_req, body, done) =>
    done(null, new URLSearchParams(body.toString())),
  )
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBytes }, (_req, _body, done) => done(null, undefined))
}

export function formOf(req: FastifyRequest): URLSearchParams {
  return req.body instanceof URLSearchParams ? req.body : new URLSearchParams()
}
