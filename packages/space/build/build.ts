// Behind `npm run build`: builds packages/space/dist from this checkout, or from the extracted source archive that
// contains this file.
import { fileURLToPath } from 'node:url'
import { writeDist } from './dist.ts'
import { digestInputs } from './input-digest.ts'

// Bundlers read environment variables (NODE_ENV, VITE_*, BROWSERSLIST…). Those that remain cannot change a byte.
const kept = new Set(['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot'])
for (const name of Object.keys(process.env)) if (!kept.has(name)) delete process.env[name]
process.env['NODE_ENV'] = 'production'
process.env['TZ'] = 'UTC'

const root = fileURLToPath(new URL('../../..', import.meta.url))
if (/[#?]/.test(root)) {
  console.error(`the folder cannot have # or ? in its path, because Vite reads them as parts of a URL: move ${root}`)
  process.exit(1)
}
process.chdir(root)
const inputs = await digestInputs(root)
// Imported after the environment is cleaned, because Vite reads it when it is loaded.
const { buildSpace } = await import('./build-space.ts')
const built = await buildSpace(root)
await writeDist(root, built, inputs)
const { gitCommit, functionCodeSha256, sourceSha256 } = built.figures
console.log(`commit   ${gitCommit}\nbundle   sha256 ${functionCodeSha256}\nsource   sha256 ${sourceSha256}`)
for (const path of built.modified) console.log(`modified ${path}`)
