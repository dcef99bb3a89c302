// F0: what Node's HTTP server alone can do.
import { createServer } from 'node:http'
import { listen } from './listen.ts'

const body = JSON.stringify({ data: { id: 'col_4fRzK0vXcB1mQwErTy7uPa', state: 'open', item_count: 12 } })

listen(
  createServer((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  }),
)
