// Builds packages/cli/dist/atrium-verify.mjs: `atrium verify` as one unminified file without dependencies, for Node 20
// and later.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../../..', import.meta.url))
await build({
  absWorkingDir: root,
  entryPoints: ['packages/cli/src/verify/atrium-verify.ts'],
  outfile: process.argv[2] ?? 'packages/cli/dist/atrium-verify.mjs',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  charset: 'utf8',
  tsconfigRaw: '{}',
  logLevel: 'warning',
})
