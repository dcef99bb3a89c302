/**
 * Writes some libraries as one file each, which the server imports instead. They consist of many small files, and each
 * file that a process loads takes some 20 KB of its memory for as long as it runs, and time at its start. --check: writes
 * nothing, and fails if a file is not what the installed version gives.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { required } from '@atrium/contract/required'
import { build } from 'esbuild'
import { writeOrCheck } from './write-or-check.ts'

interface Library {
  /** What the server imports. */
  module: string
  values: readonly string[]
  types?: readonly string[]
  /** The packages whose code is in the file. Their licences are written into it. */
  packages: readonly string[]
}

const folder = 'packages/server/src/libraries'
const root = resolve(import.meta.dirname, '..')

const libraries: Readonly<Record<string, Library>> = {
  'fast-json-stringify': {
    module: 'fast-json-stringify',
    values: ['default'],
    packages: [
      'fast-json-stringify',
      '@fastify/merge-json-schemas',
      'ajv',
      'ajv-formats',
      'dequal',
      'fast-deep-equal',
      'fast-uri',
      'json-schema-ref-resolver',
      'json-schema-traverse',
      'rfdc',
    ],
  },
  jose: {
    module: 'jose',
    values: [
      'calculateJwkThumbprint',
      'CompactEncrypt',
      'CompactSign',
      'decodeJwt',
      'decodeProtectedHeader',
      'errors',
      'exportJWK',
      'importJWK',
      'jwtVerify',
      'SignJWT',
    ],
    types: ['JWK', 'JWTPayload'],
    packages: ['jose'],
  },
  'prom-client': {
    module: 'prom-client',
    values: ['AggregatorRegistry', 'collectDefaultMetrics', 'Counter', 'Gauge', 'Histogram', 'Registry'],
    packages: ['prom-client', '@opentelemetry/api', 'tdigest', 'bintrees'],
  },
  'typebox-schema': {
    module: 'typebox/schema',
    values: ['Compile', 'Errors', 'Meta', 'Pointer'],
    packages: ['typebox'],
  },
}

const files = new Map<string, string>()
for (const [name, library] of Object.entries(libraries)) {
  files.set(`${folder}/${name}.js`, await bundled(library))
  files.set(`${folder}/${name}.d.ts`, declarations(library))
}
await writeOrCheck({ files, command: 'node scripts/libraries.ts', ownFolder: folder })

async function bundled({ module, values, packages }: Library): Promise<string> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    stdin: { contents: `export { ${values.join(', ')} } from '${module}'`, resolveDir: resolve(root, 'packages/server') },
    bundle: true,
    minifyWhitespace: true,
    minifySyntax: true,
    // A file with other characters takes twice the memory.
    charset: 'ascii',
    format: 'esm',
    platform: 'node',
    target: 'node24',
    legalComments: 'none',
    tsconfigRaw: '{}',
    metafile: true,
    write: false,
    // CommonJS code in the file loads Node's own modules.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
  })
  const found = Object.keys(metafile.inputs).flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
  const other = new Set(found).symmetricDifference(new Set(packages))
  if (other.size > 0) throw new Error(`${module}: the list of packages is wrong about ${[...other].join(', ')}`)
  const notices = await Promise.all(packages.map(notice))
  return `/*\nWritten by scripts/libraries.ts.\n\n${notices.join('\n')}*/\n${required(outputFiles[0], 'esbuild makes one file').text}`
}

async function notice(name: string): Promise<string> {
  const inside = (file: string) => readFile(resolve(root, 'node_modules', name, file), 'utf8')
  const { version, license } = JSON.parse(await inside('package.json')) as { version: string; license: string }
  // This project has the same licence.
  if (license === 'Apache-2.0') return `${name} ${version}\n${license}: see the file LICENSE\n`
  const texts = ['LICENSE', 'LICENSE.md', 'license'].map((file) => inside(file).catch(() => undefined))
  const text = (await Promise.all(texts)).find((found) => found !== undefined)
  return `${name} ${version}\n${required(text, `${name} has a licence file`).trim()}\n`
}

function declarations({ module, values, types = [] }: Library): string {
  const typed = types.length > 0 ? `export type { ${types.join(', ')} } from '${module}'\n` : ''
  return `// Written by scripts/libraries.ts.\nexport { ${values.join(', ')} } from '${module}'\n${typed}`
}
