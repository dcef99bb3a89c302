// Behind `npm run build` and `npm start`: builds packages/web/dist/console with Vite.
import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { consoleDigestFile, consoleFolder, digestConsole } from './ensure-console.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const dist = dirname(consoleFolder)
// Taken before the build: a file that changes during it makes the build stale.
const digest = await digestConsole(root)
const draft = join(dist, `.console-${randomUUID()}`)
await mkdir(draft, { recursive: true })
try {
  await build({
    configFile: fileURLToPath(new URL('../vite.console.config.ts', import.meta.url)),
    configLoader: 'native',
    mode: 'production',
    envDir: false,
    logLevel: 'error',
    build: { outDir: draft, emptyOutDir: true },
  })
  const old = `${draft}-old`
  await rename(consoleFolder, old).catch(() => undefined) // There is none before the first build.
  await rename(draft, consoleFolder)
  await rm(old, { recursive: true, force: true })
  const note = `${draft}.sha256`
  await writeFile(note, `${digest}\n`)
  await rename(note, consoleDigestFile)
} finally {
  await rm(draft, { recursive: true, force: true })
}
