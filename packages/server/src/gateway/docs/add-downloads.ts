import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { required } from '@atrium/contract/required'
import type { FastifyInstance } from 'fastify'
import type { Config } from '#config/config.ts'
import { ApiError } from '#errors/api-error.ts'
import { sendBody } from '#http/bound-unread.ts'
import { codeBlock } from './highlight.ts'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const run = promisify(execFile)

interface Download {
  file: string
  /** The name of the npm package; absent: a plain file. */
  package?: string
  version: string
  size: number
  sha256: string
}

type Downloads = Map<string, Download & { content: Buffer }>

const yearSeconds = 365 * 24 * 3_600

const pythonClient = {
  title: 'The Python client',
  text: 'For Python 3.11 and newer, without dependencies. It also runs without pip: PYTHONPATH=FILE python3 …',
  command: (url: string) => `pip install ${url}`,
}

const texts: Record<string, { title: string; text: string; command: (url: string) => string }> = {
  'atrium-client.tgz': {
    title: 'The client',
    text: 'A typed method for each operation, rooms, webhooks: for Node 20 and newer, for browsers and bundlers.',
    command: (url) => `npm install ${url}`,
  },
  'atrium-create-app.tgz': {
    title: 'An app to begin with',
    text: 'Writes a guest book with a live wall into a new folder: static files and one script, for Node 20 and newer.',
    command: (url) => `npx ${url} my-app`,
  },
  'atrium-cli.tgz': {
    title: 'The command line',
    text: "The operator's commands, the verifier and the MCP server, for another machine than the server's.",
    command: (url) => `npm install --global ${url}`,
  },
  'atrium-verify.tgz': {
    title: 'The verifier',
    text:
      'Checks a Space service, or a room by its link. Compare its hash with the one that somebody you trust has: a program that the ' +
      'service itself serves could print anything.',
    command: (url) => `npm install --global ${url}`,
  },
  'atrium-verify.mjs': {
    title: 'The verifier as one file',
    text: 'The same program, without npm.',
    command: (url) => `curl -fsSO ${url}`,
  },
}

/**
 * Adds /downloads/…: the packages that people install on other machines, so that nobody needs to trust a package of
 * this name in a registry. Each file has an address without a version, which has the newest bytes, and one with the
 * version, for lock files. Returns the body of the page, which is made on the first request.
 */
export function addDownloads(
  app: FastifyInstance,
  { publicUrl, production }: Pick<Config, 'publicUrl' | 'production'>,
): () => Promise<string> {
  const read = onceRead(app)
  app.get<{ Params: { file: string } }>('/downloads/:file', async (req, reply) => {
    const downloads = await read()
    const { file } = req.params
    if (file === 'SHA256SUMS') {
      const names = (one: Download) => [...new Set([one.file, versionedName(one)])]
      const sums = [...downloads.values()].flatMap((one) => names(one).map((name) => `${one.sha256}  ${name}\n`)).join('')
      return sendBody(req, reply.header('content-type', 'text/plain; charset=utf-8').header('cache-control', 'no-cache'), sums)
    }
    const pinned = [...downloads.values()].find((one) => versionedName(one) === file)
    const found = pinned ?? downloads.get(file)
    if (!found) throw new ApiError('not_found', { message: explainMissing(file, [...downloads.values()], publicUrl) })
    reply.header('content-type', typeOf(file)).header('etag', `"${found.sha256}"`)
    // While the source is being changed, one version has other bytes after each change.
    const isFixed = pinned !== undefined && production
    reply.header('cache-control', isFixed ? `public, max-age=${yearSeconds}, immutable` : 'no-cache')
    return sendBody(req, reply, found.content)
  })
  return async () => pageBody([...(await read()).values()], publicUrl)
}

/** `atrium-client.tgz` of 0.1.0 is `atrium-client-0.1.0.tgz`; a wheel has its version in its name anyway. */
function versionedName({ file, version }: Download): string {
  return file.endsWith('.whl') ? file : file.replace(/\.\w+$/, (ending) => `-${version}${ending}`)
}

/** If the file exists in another version, for example after an upgrade, an error with the current address. */
function explainMissing(file: string, downloads: readonly Download[], publicUrl: string): string {
  const bare = (name: string) => name.replace(/-\d+\.\d+\.\d+/, '')
  const present = downloads.find((one) => bare(one.file) === bare(file))
  if (!present) return `There is no such file. ${publicUrl}/downloads lists them.`
  return `This installation has version ${present.version} of it: ${publicUrl}/downloads/${versionedName(present)}`
}

/**
 * The packages are built in a separate process if they are missing or older than the source. A failure is not
 * cached.
 */
function onceRead(app: FastifyInstance): () => Promise<Downloads> {
  let reading: Promise<Downloads> | undefined
  return () =>
    (reading ??= makeAndRead().catch((cause: unknown) => {
      reading = undefined
      app.log.error({ err: cause }, 'the packages for /downloads cannot be made')
      const message = 'The packages are not built on this server. `npm run pack` in its source folder makes them.'
      throw new ApiError('unavailable', { message, cause })
    }))
}

async function makeAndRead(): Promise<Downloads> {
  await run(process.execPath, [`${root}scripts/pack/pack.ts`, '--if-old'])
  const folder = `${root}dist/packages/`
  const { files } = JSON.parse(await readFile(`${folder}index.json`, 'utf8')) as { files: Download[] }
  const entries = files.map(async (file) => [file.file, { ...file, content: await readFile(folder + file.file) }] as const)
  return new Map(await Promise.all(entries))
}

function typeOf(file: string): string {
  if (file.endsWith('.tgz')) return 'application/gzip'
  return file.endsWith('.whl') ? 'application/zip' : 'text/javascript; charset=utf-8'
}

function pageBody(downloads: readonly Download[], publicUrl: string): string {
  const parts = downloads.map((one) => {
    const { file, version, size, sha256 } = one
    const { title, text, command } = file.endsWith('.whl') ? pythonClient : required(texts[file], `texts describes ${file}`)
    const pinned = versionedName(one)
    const url = `${publicUrl}/downloads/${pinned}`
    const newest = pinned === file ? '' : ` Without its version: <a href="/downloads/${file}">${file}</a>.`
    return (
      `<h2>${title}</h2><p>${text}</p>${codeBlock(command(url), 'sh')}` +
      `<p><a href="/downloads/${pinned}">${pinned}</a>, version ${version}, ${Math.ceil(size / 1_024)} KiB. SHA-256: <code>${sha256}</code>.${newest}</p>`
    )
  })
  return (
    '<h1>Downloads</h1><p>Packages for other machines, made from the source of this installation. They are not published in any registry. A package with one of these names in a registry is from somebody else, so install them from ' +
    `here. An address with a version is for lock files: it serves exactly these bytes, and answers 404 once this installation has another version. ` +
    `All hashes: <a href="/downloads/SHA256SUMS">SHA256SUMS</a>.</p>${parts.join('')}`
  )
}
