import type { FastifyRequest } from 'fastify'

/** Whether a browser asks for a page. Programs accept JSON or anything. */
export function acceptsHtml({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '')
}
