import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { app, gitCommit } from 'atrium:embedded'
import { startSpace } from './start-space.ts'

const endsAfterMs = 9_500

// The entry point of the bundle. It is forked by a supervisor, or started alone.
const supervised = process.send !== undefined
let stop = (): void => process.exit(0)
let stopping = false
process.on('SIGTERM', () => stop())
// A supervisor decides what Ctrl-C does. Without one it is the same as SIGTERM.
process.on('SIGINT', () => supervised || stop())
// The supervisor was killed: nothing could stop this process later, and the next start needs its port. The handler
// is registered before anything else.
process.on('disconnect', () => stopping || process.exit(1))

try {
  // The running file, read once, is the one that the certificate names; the source is beside it. Nothing here keeps
  // what is needed at the start only: the code, and the encoded text of the app.
  const space = await startSpace({
    env: process.env,
    build: {
      gitCommit,
      functionCode: await readFile(fileURLToPath(import.meta.url)),
      sourceArchive: await readFile(fileURLToPath(new URL('source.tar.gz', import.meta.url))),
      app: app.splice(0).map((file) => ({ ...file, body: Buffer.from(file.body, 'base64') })),
    },
  })
  stop = () => {
    if (stopping) return
    stopping = true
    // If the shutdown hangs, the process exits after a timeout.
    setTimeout(() => process.exit(0), endsAfterMs).unref()
    void space
      .drain()
      .then(() => space.stop())
      .finally(() => process.exit(0))
  }
  // The supervisor exposes it. The memory that only the start needed would stay until the heap has grown.
  if (typeof gc === 'function') gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  process.send?.({ listening: space.port })
  // The supervisor serves the metrics of this process.
  process.on('message', ({ metricsAsk }: { metricsAsk?: { id: number } }) => {
    if (metricsAsk) process.send?.({ metricsAnswer: { id: metricsAsk.id, families: space.metrics.collect() } }, () => undefined)
  })
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException
  const line = code === 'EADDRINUSE' ? 'SPACE_PORT is in use; stop what uses it or set SPACE_PORT to another one' : message
  if (process.send) process.send({ failed: line }, () => process.exit(1))
  else {
    process.stderr.write(`atrium-space: ${line}\n`)
    process.exit(1)
  }
}
