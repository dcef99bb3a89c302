import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type BuildOptions } from 'esbuild'
import { makeDeclarations } from './declarations.ts'
import { licencesOf } from './licences.ts'

/** What a package holds: `{path: content}`. */
type PackageFiles = Record<string, string | Uint8Array>

export interface Packed {
  /** The name of the served file, without version and extension. */
  file: string
  name: string
  files: PackageFiles
}

/**
 * The entry points of the client. `.` has what a page may need; each of the others is independent, and `blind-sign`
 * is for Node only. `react` imports the app's own React. It is not an optional peer dependency, because npm would ask
 * a registry for it at each installation, and these packages need none.
 */
const clientEntries = [
  'index',
  'agent-visit',
  'atrium-error',
  'blind-sign',
  'blind-token',
  'client-sealed-room',
  'create-client',
  'device-key',
  'epoch-of',
  'errors',
  'follow-room',
  'listed-room',
  'new-room-secret',
  'open-room',
  'paginate',
  'pull-events',
  'react',
  'remote-agent',
  'room-history',
  'sealed-agent',
  'verify-webhook',
] as const

const forNode = { node: '>=20' }

/**
 * The client: modules with shared chunks, for Node, browsers and bundlers, with plain declarations and no
 * dependencies.
 */
export async function packClient(root: string): Promise<Packed> {
  const [scripts, declarations] = await Promise.all([
    bundle(root, {
      entryPoints: clientEntries.map((name) => `packages/client/src/${name}.ts`),
      splitting: true,
      chunkNames: 'parts/[hash]',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      // sjcl, which the blind signatures use, would take random values from Node if there is a `require`.
      external: ['node:crypto', 'crypto', 'react'],
      target: 'es2022',
    }),
    makeDeclarations(root, clientEntries),
  ])
  const exports = Object.fromEntries(
    clientEntries.map((name) => [
      name === 'index' ? '.' : `./${name}`,
      { types: `./types/client/src/${name}.d.ts`, default: `./dist/${name}.js` },
    ]),
  )
  const manifest = {
    description: 'The TypeScript client of Atrium, for browsers and Node',
    sideEffects: false,
    exports: { ...exports, './package.json': './package.json' },
    types: './types/client/src/index.d.ts',
    files: ['dist', 'types'],
  }
  return finish(root, 'client', manifest, { ...inFolder('dist', scripts), ...declarations })
}

/** `atrium verify` alone: one file, not minified, so that people can read it. */
export async function packVerifier(root: string): Promise<Packed> {
  const scripts = await bundleForNode(root, 'packages/cli/src/verify/atrium-verify.ts', 'atrium-verify.mjs')
  const manifest = {
    description: 'Checks an Atrium Space service, or a room by its link',
    bin: { 'atrium-verify': 'atrium-verify.mjs' },
    files: ['atrium-verify.mjs'],
  }
  return finish(root, 'verify', manifest, scripts)
}

/** The command line without the server: the operator's commands over HTTP, and verify. */
export async function packCli(root: string): Promise<Packed> {
  const scripts = await bundleForNode(root, 'packages/cli/src/remote.ts', 'atrium.mjs')
  const entry = await readFile(join(root, 'packages/cli/bin/atrium.cjs'))
  const load = await readFile(join(root, 'packages/cli/bin/load.cjs'))
  const platform = await readFile(join(root, 'packages/cli/bin/platform.cjs'))
  const manifest = {
    description: 'Operates an Atrium installation from elsewhere, and verifies Space services',
    bin: { atrium: 'bin/atrium.cjs' },
    files: ['bin', 'dist'],
  }
  const bin = inFolder('bin', { 'atrium.cjs': entry, 'load.cjs': load, 'platform.cjs': platform })
  return finish(root, 'cli', manifest, { ...inFolder('dist', scripts), ...bin })
}

/** The files of examples/guest-book that begin an app. A list, so that what somebody's own start wrote there stays there. */
const template = ['.gitignore', 'README.md', 'package.json', 'start.js']
const templatePages = ['guest-book.css', 'guest-book.js', 'icon.svg', 'index.html']

/** The command that begins an app, with its template. */
export async function packCreateApp(root: string): Promise<Packed> {
  const scripts = await bundleForNode(root, 'scripts/create-app/create-app.ts', 'create-app.mjs')
  const paths = [...template, ...templatePages.map((page) => `public/${page}`)]
  // npm takes a .gitignore for its own: it is packed without the dot, and written with it.
  const readings = paths.map(async (path) => [path.replace(/^\./, ''), await readFile(join(root, 'examples/guest-book', path))])
  const files = inFolder('template', Object.fromEntries(await Promise.all(readings)) as PackageFiles)
  const manifest = {
    description: 'Begins an app for Atrium: a guest book with a live wall',
    bin: { 'create-atrium-app': 'create-app.mjs' },
    files: ['create-app.mjs', 'template'],
  }
  return finish(root, 'create-app', manifest, { ...scripts, ...files })
}

async function finish(root: string, folder: string, manifest: object, files: PackageFiles): Promise<Packed> {
  const readmes: Record<string, string> = { verify: 'packages/cli/verify', 'create-app': 'scripts/create-app' }
  const source = readmes[folder] ?? `packages/${folder}`
  const { version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, string>
  const name = `@atrium/${folder}`
  const packageJson = {
    name,
    version,
    license,
    type: 'module',
    engines: forNode,
    publishConfig: { access: 'public', provenance: true },
    ...manifest,
  }
  return {
    file: `atrium-${folder}`,
    name,
    files: {
      ...files,
      'package.json': `${JSON.stringify(packageJson, null, 2)}\n`,
      'README.md': await readFile(join(root, source, 'README.md')),
      LICENSE: await readFile(join(root, 'LICENSE')),
    },
  }
}

function bundleForNode(root: string, entry: string, name: string): Promise<PackageFiles> {
  const options: BuildOptions = {
    entryPoints: { [name.replace(/\.mjs$/, '')]: entry },
    outExtension: { '.js': '.mjs' },
    platform: 'node',
    target: 'node20',
  }
  return bundle(root, options)
}

async function bundle(root: string, options: BuildOptions): Promise<PackageFiles> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    charset: 'utf8',
    tsconfigRaw: '{}',
    legalComments: 'inline',
    logLevel: 'warning',
    outdir: 'dist',
    ...options,
    write: false,
    metafile: true,
  })
  const folder = join(root, 'dist/')
  const scripts = Object.fromEntries(outputFiles.map(({ path, contents }) => [path.slice(folder.length), contents]))
  const licences = await licencesOf(root, Object.keys(metafile.inputs))
  return licences === '' ? scripts : { ...scripts, 'THIRD-PARTY-LICENSES.txt': licences }
}

function inFolder(folder: string, files: PackageFiles): PackageFiles {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]))
}
