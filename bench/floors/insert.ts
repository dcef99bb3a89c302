// F2: one insert per request in a transaction of its own. No key, no limit, no check of the input or of the
// collection, no count, one index.
import { createServer, type IncomingMessage } from 'node:http'
import { Pool } from 'pg'
import { listen } from './listen.ts'

const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 20 })

const query = {
  name: 'add-item',
  text: 'insert into bench.items (collection_id, type, content, author) values ($1, $2, $3, $4) returning id',
}

async function readBody(req: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.once('end', () => resolve(Buffer.concat(chunks).toString()))
    req.once('error', reject)
  })
}

async function insert(req: IncomingMessage): Promise<string> {
  const { type, content, author } = JSON.parse(await readBody(req)) as { type: string; content: unknown; author: string }
  const [, , collectionId] = (req.url ?? '').split('/')
  const { rows } = await pool.query({ ...query, values: [collectionId, type, JSON.stringify(content), author] })
  return JSON.stringify({ data: { id: rows[0].id } })
}

listen(
  createServer((req, res) => {
    insert(req).then(
      (body) => res.writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body),
      () => res.writeHead(500).end(),
    )
  }),
)
