// F1: a straightforward read by id. No key, no limit, no check of the answer.
import { createServer } from 'node:http'
import { Pool } from 'pg'
import { listen } from './listen.ts'

const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 20 })

const query = {
  name: 'get-collection',
  text: 'select id, metadata, state, contributor_policy, item_count, created_at from bench.collections where id = $1',
}

async function read(id: string): Promise<{ status: number; body: string }> {
  const { rows } = await pool.query({ ...query, values: [id] })
  return rows[0] ? { status: 200, body: JSON.stringify({ data: rows[0] }) } : { status: 404, body: '{"error":"not_found"}' }
}

listen(
  createServer((req, res) => {
    const { url = '' } = req
    const id = url.slice(url.lastIndexOf('/') + 1)
    read(id).then(
      ({ status, body }) =>
        res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body),
      () => res.writeHead(500).end(),
    )
  }),
)
