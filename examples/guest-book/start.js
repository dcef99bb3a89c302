// Prepares the guest book and serves it: makes its collection at the first start, writes the settings of the page, and
// copies the client to where the page loads it. `public` is then a complete website for any static host.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname } from 'node:path'
import { createClient, NotFoundError } from '@atrium/client'

const { PORT: port = '5173', ATRIUM_URL: atriumUrl = 'http://localhost:8787' } = process.env
const publicFolder = new URL('public/', import.meta.url)
/** Holds the owner's token. Keep it as you keep a password. */
const bookFile = new URL('guest-book.json', import.meta.url)

/** @typedef {{ url: string, key: string, id: string, ownerToken: string, writeToken: string }} Book */

try {
  const book = (await readBook()) ?? (await makeBook(process.argv[2]))
  await writeSite(book)
  serve(book)
} catch (error) {
  console.error(`guest-book: ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}

/** @returns {Promise<Book | undefined>} undefined at the first start */
async function readBook() {
  const text = await readFile(bookFile, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  /** @type {Book} */
  const book = JSON.parse(text)
  await createClient({ baseUrl: book.url, key: book.key })
    .getCollection({ id: book.id })
    .catch((error) => {
      if (!(error instanceof NotFoundError)) throw error
      throw new Error(`${book.url} does not have ${book.id}. To begin a new guest book, move guest-book.json away.`)
    })
  return book
}

/** @param {string | undefined} key */
async function makeBook(key) {
  if (!key?.startsWith('wpk_')) {
    throw new Error(`give your publishable key once: npm start -- wpk_…   ${atriumUrl}/docs shows it on a development server.`)
  }
  const { data } = await createClient({ baseUrl: atriumUrl, key }).createCollection({
    body: {
      metadata: { share_title: 'Guest book', share_description: 'Write a few words.', theme: 'paper' },
      contributor_policy: 'token', // adding an entry takes the contributor token, which is in the guests' link
      item_access: 'open', // everyone who opens the page reads the entries
      wall: true,
    },
  })
  const tokens = { ownerToken: data.admin_token, writeToken: data.contributor_token ?? '' }
  const book = { url: atriumUrl, key, id: data.id, ...tokens }
  await writeFile(bookFile, `${JSON.stringify(book, null, 2)}\n`, { mode: 0o600 })
  return book
}

/** @param {Book} book */
async function writeSite({ url, key, id }) {
  const client = new URL('.', import.meta.resolve('@atrium/client'))
  if (!client.pathname.endsWith('/dist/')) throw new Error('install the client first: npm install')
  await cp(client, new URL('client/', publicFolder), { recursive: true })
  // The publishable key is made for pages: it may be public. The two tokens stay here.
  await writeFile(new URL('settings.js', publicFolder), `export const settings = ${JSON.stringify({ url, key, id })}\n`)
}

/** @param {Book} book */
function serve({ url, id, ownerToken, writeToken }) {
  /** @type {Record<string, string>} */
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }
  const policy = [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'",
    `connect-src ${new URL(url).origin}; frame-ancestors 'none'; require-trusted-types-for 'script'`,
  ].join('; ')
  const server = createServer((req, res) => {
    // The parser of addresses takes `..` out of them, however it is written.
    const address = `http://localhost${req.url}`
    const path = URL.canParse(address) ? new URL(address).pathname : '/missing'
    readFile(new URL(`.${path === '/' ? '/index.html' : path}`, publicFolder)).then(
      (content) => {
        const type = `${types[extname(path)] ?? 'text/html'}; charset=utf-8`
        res.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(content)
      },
      () => res.writeHead(404, { 'content-type': 'text/plain' }).end('Not found'),
    )
  })
  server.on('error', (error) => {
    console.error(`guest-book: ${error.message}. Another port: PORT=5174 npm start`)
    process.exitCode = 1
  })
  server.listen(Number(port), 'localhost', () => {
    const page = `http://localhost:${port}/`
    console.log(`
  For guests, who may write    ${page}#write=${writeToken}
  For readers                  ${page}
  For you, to hide entries     ${page}#owner=${ownerToken}
  The wall, for a big screen   ${url}/v1/collections/${id}/wall
`)
  })
}
