import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { consoleFolder } from '@atrium/web/build/ensure-console'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { fixedFile, onceMade, sendFixedFile, type FixedFile } from './docs/fixed-file.ts'

/**
 * The console loads files, pictures and frames of its own origin alone, and nobody may frame it. `blob:` is for pictures
 * that only the owner of a collection may see: the page fetches them with its session.
 */
const policyOf = (style: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    "img-src 'self' blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const notBuilt =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Console</title>' +
  '<p>The console is not built. Run <code>npm run build</code>, and start the server again.</p></html>'

interface ConsoleFiles {
  page: FixedFile
  policy: string
  assets: ReadonlyMap<string, FixedFile & { type: string }>
}

/** They are read from the disk at the first request, and again if that failed. */
const read = onceMade(readConsole)

/** Answers with the page, which is the same for everyone and has no data. */
export function sendConsolePage(req: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('x-robots-tag', 'noindex')
    .header('content-type', 'text/html; charset=utf-8')
  return read().then(
    ({ page, policy }) => sendFixedFile(req, reply.header('content-security-policy', policy), page),
    () => reply.code(503).header('content-security-policy', policyOf('')).send(notBuilt),
  )
}

/**
 * Serves the console: its page at /console and below, where the page itself finds what to show, and its files at
 * /console/assets/.
 */
export function addConsole(app: FastifyInstance): void {
  app.get('/console', sendConsolePage)
  app.get('/console/*', sendConsolePage)
  app.get<{ Params: { '*': string } }>('/console/assets/*', async (req, reply) => {
    const file = (await read().catch(() => undefined))?.assets.get(req.params['*'])
    if (!file) throw new ApiError('not_found', { message: 'There is no such file of the console.' })
    // The name of a file changes with its content.
    return sendFixedFile(req, reply.header('content-type', file.type), file, 'public, max-age=31536000, immutable')
  })
}

async function readConsole(): Promise<ConsoleFiles> {
  const folder = join(consoleFolder, 'assets')
  const assets = new Map<string, FixedFile & { type: string }>()
  for (const name of await readdir(folder)) {
    const type = contentTypes[extname(name)]
    if (!type) throw new Error(`${name}: no content type is known for it`)
    assets.set(name, { ...(await fixedFile(await readFile(join(folder, name)))), type })
  }
  const html = await readFile(join(consoleFolder, 'index.html'), 'utf8')
  const [link, name = ''] = styleLink.exec(html) ?? []
  const style = assets.get(name)?.plain.toString()
  if (link === undefined || style === undefined) throw new Error('the page of the console has no style')
  // On a slow network, a separate style sheet doubles the time until something is seen.
  return { page: await fixedFile(html.replace(link, () => `<style>${style}</style>`)), policy: policyOf(style), assets }
}

const styleLink = /<link rel="stylesheet" crossorigin href="\/console\/assets\/([^"]{1,200})">/
