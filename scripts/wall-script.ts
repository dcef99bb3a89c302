/**
 * Writes the script of the wall as one constant, so that the server can inline it in the page without a build step.
 * --check: writes nothing, and fails if the file is out of date.
 */
import { resolve } from 'node:path'
import { required } from '@atrium/contract/required'
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
const script = required(outputFiles[0], 'esbuild makes one file').text.trim()
if (/<\/script|<!--/i.test(script)) throw new Error('the script would end its own element')
const text = [
  '// Written by scripts/wall-script.ts out of packages/web/src/wall/browser.',
  `export const wallScript = ${JSON.stringify(script)}`,
  '',
].join('\n')
const formatted = await format(path, text, { printWidth: 130, semi: false, singleQuote: true, trailingComma: 'all' })
await writeOrCheck({ files: new Map([[path, formatted.code]]), command: 'node scripts/wall-script.ts' })
