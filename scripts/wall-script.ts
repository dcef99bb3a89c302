/**
 * Writes the script of the wall as one constant, so that the server has it in the page without a build step.
 * --check: writes nothing, and fails if the file is not what the sources make.
 */
import { resolve } from 'node:path'
import { build } from 'esbuild'
import { format } from 'oxfmt'
import { writeOrCheck } from './write-or-check.ts'

const path = 'packages/web/src/wall/wall-script.ts'

const { outputFiles } = await build({
  absWorkingDir: resolve(import.meta.dirname, '..'),
  entryPoints: ['packages/web/src/wall/browser/main.ts'],
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  legalComments: 'none',
  tsconfigRaw: '{}',
  write: false,
})
const script = outputFiles[0]!.text.trim()
if (/<\/script|<!--/i.test(script)) throw new Error('the script would end its own element')
const text = [
  '// Written by scripts/wall-script.ts out of packages/web/src/wall/browser.',
  `export const wallScript = ${JSON.stringify(script)}`,
  '',
].join('\n')
const formatted = await format(path, text, { printWidth: 130, semi: false, singleQuote: true, trailingComma: 'all' })
await writeOrCheck({ files: new Map([[path, formatted.code]]), command: 'node scripts/wall-script.ts' })
