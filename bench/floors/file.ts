// F3: a file by its name, as Node's own documentation serves one. No look at a database, no ETag, no range, no limit.
import { randomBytes } from 'node:crypto'
import { createReadStream, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { fileBytes } from '../media.ts'
import { listen } from './listen.ts'

const folder = path.join(process.env['ATRIUM_DATA_DIR']!, '..', 'files')
mkdirSync(folder, { recursive: true })
for (let i = 0; i < 16; i++) writeFileSync(path.join(folder, String(i)), randomBytes(fileBytes))

listen(
  createServer((req, res) => {
    const file = path.join(folder, path.basename(req.url!))
    const size = statSync(file, { throwIfNoEntry: false })?.size
    if (size === undefined) return void res.writeHead(404).end()
    res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': size })
    createReadStream(file).pipe(res)
  }),
)
