import { isBuiltin } from 'node:module'
import * as esbuild from 'esbuild'
import type { Metafile, Plugin } from 'esbuild'
import type { AppFile } from '../src/certificate/space-build.ts'

export const ENTRY = 'packages/space/src/entry.ts'

/**
 * The folders whose code may be in the bundle. Each folder that is added is more code for people to read before they
 * can trust the service.
 */
const allowedFolders: readonly string[] = [
  ...['contract', 'identity', 'sealing', 'space', 'traffic'].map((name) => `packages/${name}/src/`),
  'embedded:',
]

export interface Bundle {
  readonly code: Uint8Array
  readonly metafile: Metafile
}

export interface Embedded {
  readonly gitCommit: string
  readonly app: readonly AppFile[]
}

/**
 * The service as one file, not minified, so that people can read it. Its bytes depend only on the sources and
 * `embedded`.
 */
export async function bundleService(root: string, embedded: Embedded): Promise<Bundle> {
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [ENTRY],
    outfile: 'space.mjs',
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Text of other characters as well takes twice the memory, for as long as the service runs.
    charset: 'ascii',
    // The options are given here, so that no tsconfig.json of a folder applies.
    tsconfigRaw: '{}',
    plugins: [embed(embedded)],
    logLevel: 'silent',
  })
  assertAllowed(metafile)
  assertSelfContained(metafile)
  const [file] = outputFiles
  if (!file) throw new Error('esbuild made no file')
  return { code: file.contents, metafile }
}

function embed({ gitCommit, app }: Embedded): Plugin {
  const rows = app.map((file) => ({ ...file, body: Buffer.from(file.body).toString('base64') }))
  const contents = `export const gitCommit = ${JSON.stringify(gitCommit)}\nexport const app = ${JSON.stringify(rows)}\n`
  return {
    name: 'atrium:embed',
    setup(build) {
      build.onResolve({ filter: /^atrium:embedded$/ }, ({ path }) => ({ path, namespace: 'embedded' }))
      build.onLoad({ filter: /.*/, namespace: 'embedded' }, () => ({ contents }))
    },
  }
}

function assertAllowed({ inputs }: Metafile): void {
  const isAllowed = (path: string) => allowedFolders.some((folder) => path.startsWith(folder)) && !path.includes('node_modules/')
  const foreign = Object.keys(inputs).filter((path) => !isAllowed(path))
  if (foreign.length > 0)
    throw new Error(
      `the bundle may not hold ${foreign.join(', ')}: allowedFolders in packages/space/build/bundle.ts has no such folder`,
    )
}

/** Throws if the bundle would load anything but Node's own modules at run time: that code would not be certified. */
function assertSelfContained(metafile: Metafile): void {
  for (const { imports } of Object.values(metafile.outputs)) {
    for (const { path } of imports) {
      if (!isBuiltin(path)) throw new Error(`the bundle would load ${path} from outside of it`)
    }
  }
}
