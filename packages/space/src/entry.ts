import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { app, gitCommit } from 'atrium:embedded'
import type { SpaceBuild } from './certificate/space-build.ts'
import { startSpace } from './start-space.ts'

const endsAfterMs = 9_500

// Forked by whoever supervises it, or started alone.
const supervised = process.send !== undefined
let stop = (): void => process.exit(0)
let stopping = false
process.on('SIGTERM', () => stop())
// Whoever started this decides about Ctrl-C; alone, it is the same as SIGTERM.
process.on('SIGINT', () => supervised || stop())
// The supervisor was killed: nobody could stop this process any more, and the next start needs its port. Heard from the first moment on.
process.on('disconnect', () => stopping || process.exit(1))

// Where the bundle starts. The file that is running, read once, is what the certificate names; its source lies beside it.
const build: SpaceBuild = {
  gitCommit,
  functionCode: await readFile(fileURLToPath(import.meta.url)),
  sourceArchive: await readFile(fileURLToPath(new URL('source.tar.gz', import.meta.url))),
  app: app.map((file) => ({ ...file, body: Buffer.from(file.body, 'base64') })),
}

try {
  const space = await startSpace({ env: process.env, build })
  stop = () => {
    if (stopping) return
    stopping = true
    // Whatever hangs, an end that was asked for comes.
    setTimeout(() => process.exit(0), endsAfterMs).unref()
    void space.stop().finally(() => process.exit(0))
  }
  process.send?.({ listening: space.port })
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  const line = code === 'EADDRINUSE' ? 'SPACE_PORT is in use; stop what uses it or set SPACE_PORT to another one' : message
  if (process.send) process.send({ failed: line }, () => process.exit(1))
  else {
    process.stderr.write(`atrium-space: ${line}\n`)
    process.exit(1)
  }
}
