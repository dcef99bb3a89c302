import { createHash } from 'node:crypto'
import type { HeroInput } from '@atrium/web/share/hero'
import { readPageText, type PageText } from '@atrium/web/page-text/page-text'
import { renderShareNotFound } from '@atrium/web/share/render-share-page'
import type { SharePageInput } from '@atrium/web/share/share-page'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Artifact } from '#features/artifacts/artifact.ts'
import type { Context } from '#features/context.ts'
import { pathOf } from '#http/parse.ts'

/** The input of a collection's share page; undefined: the collection does not exist, or its tenant is suspended. */
export async function findShareInput(ctx: Context, collectionId: string): Promise<SharePageInput | undefined> {
  const collection = await ctx.collections.findAnyTenant(collectionId)
  if (!collection) return undefined
  const [isSuspended, { hero, card }] = await Promise.all([
    ctx.suspensions.isSuspended(collection.tenantId),
    ctx.publicPreviews.load(collection.tenantId, collection.id),
  ])
  if (isSuspended) return undefined
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

export function heroInputOf(artifact: Artifact | undefined): HeroInput | undefined {
  if (!artifact?.url) return undefined
  const { kind, url, title, alt, width, height, mime } = artifact
  return { kind, url, title, alt, width, height, mime }
}

/** The collection whose page has this address; undefined: it is not a share page or wall of this installation. */
export function readPageAddress(
  address: string,
  publicUrl: string,
): { id: string; isWall: boolean; layout: string | null } | undefined {
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  if (url.origin !== new URL(publicUrl).origin) return undefined
  const [, id, page] = /^\/v1\/collections\/([^/]+)\/(render|wall)$/.exec(url.pathname) ?? []
  return id === undefined ? undefined : { id, isWall: page === 'wall', layout: url.searchParams.get('layout') }
}

/** The styles of a page depend only on its theme, and a wall has one script. They are few, so their hashes are cached. */
const hashes = new Map<string, string>()
const maxHashes = 1_000

/** Returns the SHA-256 of a style or script in base64, for the page's content security policy. */
export function inlineHash(text: string): string {
  let hash = hashes.get(text)
  if (hash === undefined) {
    hash = createHash('sha256').update(text).digest('base64')
    if (hashes.size >= maxHashes) hashes.clear()
    hashes.set(text, hash)
  }
  return hash
}

export interface ErrorPage {
  html: string
  headers: Record<string, string>
}

const notFoundPages = new Map<string, ErrorPage>()

/** The page for an unknown collection. It is the same for all collections, so it is rendered once in each language. */
export function sharePageNotFound(asked: Record<string, string | string[] | undefined>): ErrorPage {
  const text = readPageText(asked['accept-language'])
  const known = notFoundPages.get(text.language)
  if (known) return known
  const { html, csp } = renderShareNotFound(inlineHash, text)
  const page = { html, headers: { ...pageHeaders(csp, text), 'cache-control': 'no-store' } }
  notFoundPages.set(text.language, page)
  return page
}

/** Caches revalidate each time, because a curation is visible at once. An unchanged page costs a 304. */
export function pageHeaders(csp: string, { language }: PageText): Record<string, string> {
  return {
    'content-security-policy': csp,
    'content-language': language,
    'referrer-policy': 'no-referrer',
    'cache-control': 'public, max-age=0, must-revalidate',
    // The same address is in the language of its reader.
    vary: 'Accept-Language',
  }
}

/** Whether the address has the form of a share page or wall, with any text in place of the id. */
export function isSharePage({ method, raw }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && /^\/v1\/collections\/[^/]*\/(?:render|wall)$/.test(pathOf(raw.url ?? ''))
}

/**
 * Answers an id that is too long or badly escaped, for which the router finds no operation: a reader gets a page, not
 * JSON.
 */
export function answerSharePageNotFound(req: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { html, headers } = sharePageNotFound(req.headers)
  return reply
    .code(404)
    .headers({ ...headers, 'x-request-id': req.id, 'x-content-type-options': 'nosniff' })
    .header('content-type', 'text/html; charset=utf-8')
    .send(html)
}
