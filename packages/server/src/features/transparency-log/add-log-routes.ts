import { encodeBundle } from '@atrium/log/bundle'
import { formatVerifier } from '@atrium/log/note'
import { formatPolicy } from '@atrium/log/policy'
import { parseTilePath, tileWidth } from '@atrium/log/tiles'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { applyCors } from '#http/cors.ts'
import type { Context } from '../context.ts'
import { listLogVerifiers } from './log-keys.ts'
import { findPublished, logOrigin } from './publish.ts'
import type { ShownType } from './entries.ts'
import { findLeaf, findShown, findTile, getTree, listEntries } from './store.ts'
import { proveEntry } from './stored-tree.ts'

const text = 'text/plain; charset=utf-8'
/** Checkpoints and proofs change within seconds. */
const shortly = 'public, max-age=2'
/** Tiles never change. */
const forever = 'public, max-age=31536000, immutable'

/** Serves the transparency log: the files of C2SP tlog-tiles, the verifier keys, and inclusion proofs by leaf hash. */
export function addLogRoutes(app: FastifyInstance, { db, config }: Pick<Context, 'db' | 'config'>): void {
  const origin = logOrigin(config.publicUrl)
  const published = async () => (await findPublished(db, origin)) ?? notFound()

  app.get('/log/checkpoint', async (_req, reply) => send(reply, text, shortly, (await published()).checkpoint))

  app.get('/log/vkey', async (_req, reply) => {
    const verifiers = await listLogVerifiers(db, origin)
    if (verifiers.length === 0) notFound()
    return send(reply, text, shortly, verifiers.map((key) => `${formatVerifier(key)}\n`).join(''))
  })

  // Without witnesses there is nothing to judge by.
  app.get('/log/policy', async (_req, reply) =>
    send(reply, text, shortly, config.logPolicy.witnesses.length === 0 ? notFound() : formatPolicy(config.logPolicy)),
  )

  app.get<{ Params: { '*': string } }>('/log/tile/*', async (req, reply) => {
    const id = parseTilePath(`tile/${req.params['*']}`)
    if (id === undefined) return notFound()
    const { size } = await getTree(db)
    return send(reply, 'application/octet-stream', forever, await readTileFile(id, size))
  })

  const readTileFile = async (id: NonNullable<ReturnType<typeof parseTilePath>>, size: number): Promise<Buffer> => {
    if (id.level !== 'entries') return (await findTile(db, id)) ?? notFound()
    const from = id.index * tileWidth
    // Bundles and tiles are of the same leaves, also while a leaf is being integrated.
    if (!Number.isSafeInteger(from) || from + id.width > size) return notFound()
    return encodeBundle(await listEntries(db, from, id.width))
  }

  const shownTypes = ['certificate', 'app_page'] as const satisfies readonly ShownType[]
  for (const type of shownTypes)
    app.get(`/log/proof/${type}`, async (_req, reply) => {
      const leafHash = (await findShown(db, type)) ?? notFound()
      applyCors(reply)
      return reply.header('cache-control', shortly).redirect(`/log/proof/${leafHash.toString('hex')}`, 302)
    })

  app.get<{ Params: { leaf: string } }>('/log/proof/:leaf', async (req, reply) => {
    if (!/^[0-9a-f]{64}$/.test(req.params.leaf)) return notFound()
    const [head, leaf] = await Promise.all([published(), findLeaf(db, Buffer.from(req.params.leaf, 'hex'))])
    if (leaf?.position === undefined || leaf.position >= head.size) return notFound()
    return send(reply, text, shortly, await proveEntry(db, head, leaf.position, leaf.entry))
  })
}

function send(reply: FastifyReply, type: string, cacheControl: string, body: string | Buffer): FastifyReply {
  applyCors(reply)
  return reply.header('cache-control', cacheControl).type(type).send(body)
}

function notFound(): never {
  throw new ApiError('not_found')
}
