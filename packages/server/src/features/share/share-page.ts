import { createHash } from 'node:crypto'
import type { HeroInput } from '@atrium/web/share/hero'
import { renderShareNotFound } from '@atrium/web/share/render-share-page'
import type { SharePageInput } from '@atrium/web/share/share-page'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Artifact } from '#features/artifacts/artifact.ts'
import type { Context } from '#features/context.ts'

/** The input of a collection's share page; undefined: the collection does not exist. */
export async function findShareInput(ctx: Context, collectionId: string): Promise<SharePageInput | undefined> {
  const collection = await ctx.collections.findAnyTenant(collectionId)
  if (!collection) return undefined
  const { hero, card } = await ctx.publicPreviews.load(collection.tenantId, collection.id)
  const { publicUrl } = ctx.config
  const pageUrl = `${publicUrl}/v1/collections/${collection.id}/render`
  return {
    id: collection.id,
    metadata: collection.metadata,
    state: collection.state,
    hero: heroInputOf(hero),
    card: heroInputOf(card),
    publicUrl,
    pageUrl,
    oembedUrl: `${publicUrl}/v1/oembed?url=${encodeURIComponent(pageUrl)}`,
  }
}

function heroInputOf(artifact: Artifact | undefined): HeroInput | undefined {
  if (!artifact?.url) return undefined
  const { kind, url, title, alt, width, height, mime } = artifact
  return { kind, url, title, alt, width, height, mime }
}

/** The collection whose share page has this address; undefined: it is not a share page of this installation. */
export function collectionIdOfPage(address: string, publicUrl: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  if (url.origin !== new URL(publicUrl).origin) return undefined
  return /^\/v1\/collections\/([^/]+)\/render$/.exec(url.pathname)?.[1]
}

/** The styles of a page depend only on its theme. Themes are few, so their hashes are cached. */
const hashes = new Map<string, string>()
const maxHashes = 1_000

/** Returns the SHA-256 of a style in base64, for the page's content security policy. */
export function styleHash(style: string): string {
  let hash = hashes.get(style)
  if (hash === undefined) {
    hash = createHash('sha256').update(style).digest('base64')
    if (hashes.size >= maxHashes) hashes.clear()
    hashes.set(style, hash)
  }
  return hash
}

interface NotFoundPage {
  html: string
  headers: Record<string, string>
}

let notFoundPage: NotFoundPage | undefined

/** The page for an unknown collection. It is constant, so it is rendered once. */
export function sharePageNotFound(): NotFoundPage {
  if (notFoundPage) return notFoundPage
  const { html, csp } = renderShareNotFound(styleHash)
  const headers = { 'content-security-policy': csp, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' }
  return (notFoundPage = { html, headers })
}

/** Whether the address has the form of a share page, with any text in place of the id. */
export function isSharePage({ method, raw }: FastifyRequest): boolean {
  const [path = ''] = (raw.url ?? '').split('?', 1)
  return (method === 'GET' || method === 'HEAD') && /^\/v1\/collections\/[^/]*\/render$/.test(path)
}

/**
 * Answers an id that is too long or badly escaped, for which the router finds no operation: a reader gets a page, not
 * JSON.
 */
export function answerSharePageNotFound(req: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { html, headers } = sharePageNotFound()
  return reply
    .code(404)
    .headers({ ...headers, 'x-request-id': req.id, 'x-content-type-options': 'nosniff' })
    .header('content-type', 'text/html; charset=utf-8')
    .send(html)
}
