import type { FastifyInstance, FastifyReply } from 'fastify'
import { readRelease } from '#config/release.ts'
import type { Context } from '#features/context.ts'
import { findSlowestRevocation } from '#features/installation/process-store.ts'
import { keyCeilingMs } from '#features/keys/key-cache.ts'
import { windowMs } from '#features/revocation-probe/revocation-probe.ts'
import { applyCors } from '#http/cors.ts'
import { acceptsHtml } from '#http/parse.ts'
import { docsPage, docsPolicy } from './docs/docs-page.ts'
import { statusBody, type Status } from './docs/status-page.ts'

/** However often the page is asked for, the database is asked once in this time. */
const holdMs = 5_000

/** Adds the public status page: /status for browsers, and as JSON for programs, which is also at /status.json. */
export function addStatus(app: FastifyInstance, ctx: Pick<Context, 'config' | 'db'>): void {
  const read = held(() => readStatus(ctx))
  const sendJson = (reply: FastifyReply, status: Status) => {
    applyCors(reply)
    return answer(reply, status).send(status)
  }
  app.get('/status.json', async (_req, reply) => sendJson(reply, await read()))
  app.get('/status', async (req, reply) => {
    reply.header('vary', 'accept')
    const status = await read()
    return acceptsHtml(req) ? sendPage(reply, status) : sendJson(reply, status)
  })
}

function sendPage(reply: FastifyReply, status: Status): FastifyReply {
  reply.header('content-security-policy', docsPolicy).header('referrer-policy', 'no-referrer')
  const page = docsPage({ path: '/status', title: 'Status', body: statusBody(status), layout: 'landing', navigation: [] })
  return answer(reply, status).header('cross-origin-opener-policy', 'same-origin').type('text/html; charset=utf-8').send(page)
}

function answer(reply: FastifyReply, { status }: Status): FastifyReply {
  if (status === 'ok') return reply.header('cache-control', 'public, max-age=10')
  return reply.code(503).header('cache-control', 'no-store')
}

async function readStatus({ config, db }: Pick<Context, 'config' | 'db'>): Promise<Status> {
  const [{ version, commit = null }, worst] = await Promise.all([
    readRelease(),
    findSlowestRevocation(db).then(
      (ms) => ({ status: 'ok' as const, ms: ms ?? null }),
      // Why is in the log of /readyz, and not for everyone: it may name the address of the database.
      () => ({ status: 'unavailable' as const, ms: null }),
    ),
  ])
  return {
    status: worst.status,
    version,
    commit,
    space_certificate: `${config.spacesUrl}/cert.json`,
    transparency_log: `${config.publicUrl}/log/checkpoint`,
    key_revocation: { worst_ms: worst.ms, window_seconds: windowMs / 1_000, limit_ms: keyCeilingMs },
  }
}

function held(read: () => Promise<Status>): () => Promise<Status> {
  let last: { status: Promise<Status>; atMs: number } | undefined
  return () => {
    if (last === undefined || performance.now() - last.atMs >= holdMs) last = { status: read(), atMs: performance.now() }
    return last.status
  }
}
