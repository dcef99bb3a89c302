import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { escapeHtml } from '@atrium/web/share/escape-html'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '#errors/api-error.ts'
import { sendBody } from '#http/bound-unread.ts'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const run = promisify(execFile)

interface Download {
  file: string
  /** Of npm; absent: a plain file. */
  package?: string
  version: string
  size: number
  sha256: string
}

type Downloads = Map<string, Download & { content: Buffer }>

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
  'atrium-cli.tgz': {
    title: 'The command line',
    text: "The operator's commands and the verifier, for another machine than the server's.",
    command: (url) => `npm install --global ${url}`,
  },
  'atrium-verify.tgz': {
    title: 'The verifier',
    text:
      'Checks a Space service, or a room by its link. Compare its hash with the one that somebody you trust has: a checker which the ' +
      'service itself hands out could say anything.',
    command: (url) => `npm install --global ${url}`,
  },
  'atrium-verify.mjs': {
    title: 'The verifier as one file',
    text: 'The same program, without npm.',
    command: (url) => `curl -fsSO ${url}`,
  },
}

/**
 * /downloads/…: what people install on other machines, so that nobody has to take a package of this name from a
 * registry. Gives the page's body, made when it is first asked for.
 */
export function addDownloads(app: FastifyInstance, publicUrl: string): () => Promise<string> {
  const read = onceRead(app)
  app.get<{ Params: { file: string } }>('/downloads/:file', async (req, reply) => {
    const downloads = await read()
    const { file } = req.params
    if (file === 'SHA256SUMS') {
      const sums = [...downloads.values()].map(({ sha256, file }) => `${sha256}  ${file}\n`).join('')
      return sendBody(req, reply.header('content-type', 'text/plain; charset=utf-8').header('cache-control', 'no-cache'), sums)
    }
    const found = downloads.get(file)
    if (!found) throw new ApiError('not_found', { message: `There is no such file. ${publicUrl}/downloads lists them.` })
    const type = typeOf(file)
    reply.header('content-type', type).header('etag', `"${found.sha256}"`).header('cache-control', 'no-cache')
    return sendBody(req, reply, found.content)
  })
  return async () => pageBody([...(await read()).values()], publicUrl)
}

/** Made in a process of its own where they are missing or old; a failure is not kept. */
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
  const parts = downloads.map(({ file, version, size, sha256 }) => {
    const { title, text, command } = file.endsWith('.whl') ? pythonClient : texts[file]!
    const url = `${publicUrl}/downloads/${file}`
    return (
      `<h2>${title}</h2><p>${text}</p><pre data-language="sh"><code>${escapeHtml(command(url))}</code></pre>` +
      `<p><a href="/downloads/${file}">${file}</a>, version ${version}, ${Math.ceil(size / 1_024)} KiB. SHA-256: <code>${sha256}</code></p>`
    )
  })
  return (
    '<h1>Downloads</h1><p>What this installation gives for other machines, made from its own source. The names are not ours in any registry: install them from ' +
    `here. A lock file pins what was installed, so a newer release is installed by the same command again. ` +
    `All hashes: <a href="/downloads/SHA256SUMS">SHA256SUMS</a>.</p>${parts.join('')}`
  )
}
