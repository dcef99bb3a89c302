import { isBuiltin } from 'node:module'
import * as esbuild from 'esbuild'
import type { Metafile, Plugin } from 'esbuild'
import type { AppFile } from '../src/certificate/space-build.ts'

export const ENTRY = 'packages/space/src/entry.ts'

export interface Bundle {
  readonly code: Uint8Array
  readonly metafile: Metafile
}

export interface Embedded {
  readonly gitCommit: string
  readonly app: readonly AppFile[]
}

/** The service as one file, not minified: whoever wants to can read it. Its bytes depend on the sources and `embedded` alone. */
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
    charset: 'utf8',
    // Not the tsconfig.json that happens to lie around.
    tsconfigRaw: '{}',
    // pg is CommonJS and requires Node's own modules when it is loaded.
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'\nconst require = createBundleRequire(import.meta.url)",
    },
    plugins: [embed(embedded), leaveOutNative],
    logLevel: 'silent',
  })
  assertSelfContained(metafile)
  return { code: outputFiles[0]!.contents, metafile }
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

/** pg would load libpq's binding when an environment variable says so: code that no certificate covers. */
const leaveOutNative: Plugin = {
  name: 'atrium:leave-out-native',
  setup(build) {
    build.onResolve({ filter: /^pg-native$/ }, ({ path }) => ({ path, namespace: 'left-out' }))
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({
      contents: "throw new Error('pg-native is not in this bundle')",
    }))
  },
}

/** What the bundle loaded at run time beside Node's own modules would run uncertified. */
function assertSelfContained(metafile: Metafile): void {
  for (const { imports } of Object.values(metafile.outputs)) {
    for (const { path } of imports) {
      if (!isBuiltin(path)) throw new Error(`the bundle would load ${path} from outside of it`)
    }
  }
}
