// F3: serves a file by its name, as in Node's own documentation. No database, no ETag, no range, no limit.
import { required } from '@atrium/contract/required'
import { randomBytes } from 'node:crypto'
import { createReadStream, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { fileBytes } from '../media.ts'
import { listen } from './listen.ts'

const folder = path.join(required(process.env['ATRIUM_DATA_DIR'], 'the stage sets ATRIUM_DATA_DIR'), '..', 'files')
mkdirSync(folder, { recursive: true })
for (let i = 0; i < 16; i++) writeFileSync(path.join(folder, String(i)), randomBytes(fileBytes))

listen(
  createServer((req, res) => {
    const file = path.join(folder, path.basename(req.url ?? ''))
    const size = statSync(file, { throwIfNoEntry: false })?.size
    if (size === undefined) return void res.writeHead(404).end()
    res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': size })
    createReadStream(file).pipe(res)
  }),
)
