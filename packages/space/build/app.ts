import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, isAbsolute, join, relative, sep } from 'node:path'
import { build, type Plugin, type ResolvedConfig } from 'vite'
import type { AppFile } from '../src/certificate/space-build.ts'
import { buildClientFile } from './client-file.ts'

export const APP_CONFIG = 'packages/web/vite.space.config.ts'

export interface BuiltApp {
  /** Sorted by path. */
  readonly files: readonly AppFile[]
  /** Every file that the app was built from, as an absolute path, including those of node_modules. */
  readonly inputs: readonly string[]
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
}

/** Builds the app with its own Vite config, into a temporary folder. */
export async function buildApp(root: string): Promise<BuiltApp> {
  const outDir = await mkdtemp(join(tmpdir(), 'atrium-space-app-'))
  const inputs = new Set<string>()
  try {
    await build({
      configFile: join(root, APP_CONFIG),
      configLoader: 'native',
      mode: 'production',
      envDir: false, // a .env file is in no commit, and must not change the certified bytes
      logLevel: 'error',
      build: { outDir, emptyOutDir: true },
      plugins: [recordInputs(inputs)],
    })
    const files = await readApp(outDir)
    return { files: withClientFile(files, await buildClientFile(root)), inputs: [...inputs] }
  } finally {
    await rm(outDir, { recursive: true, force: true })
  }
}

/**
 * Adds the app in one file, and names it in the page. So the page's entry in the transparency log has its hash, too.
 */
function withClientFile(files: readonly AppFile[], client: string): AppFile[] {
  const body = Buffer.from(client)
  const path = `/space/assets/client-${createHash('sha256').update(body).digest('hex').slice(0, 16)}.html`
  const link = `<link rel="alternate" type="text/html" href="${path}" title="Space in one file" />\n  </head>`
  const named = files.map((file) => {
    if (file.path !== '/space') return file
    return {
      ...file,
      body: Buffer.from(
        Buffer.from(file.body)
          .toString()
          .replace('</head>', () => link),
      ),
    }
  })
  return [...named, { path, contentType: 'text/html; charset=utf-8', body }].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function recordInputs(inputs: Set<string>): Plugin {
  let config: ResolvedConfig
  return {
    name: 'atrium:record-inputs',
    configResolved: (resolved) => {
      config = resolved
    },
    async generateBundle(_options, bundle) {
      for (const id of this.getModuleIds()) {
        const path = id.replace(/\?.*/, '')
        if (isAbsolute(path)) inputs.add(path)
      }
      // Files that a page or a style sheet refers to are not modules.
      for (const output of Object.values(bundle)) {
        if (output.type === 'asset') for (const name of output.originalFileNames) inputs.add(join(config.root, name))
      }
      if (config.publicDir) for (const path of await listFiles(config.publicDir)) inputs.add(path)
    },
  }
}

async function readApp(folder: string): Promise<AppFile[]> {
  const files: AppFile[] = []
  for (const file of await listFiles(folder)) {
    const name = relative(folder, file).split(sep).join('/')
    const contentType = contentTypes[extname(name)]
    if (!contentType) throw new Error(`${name}: no content type is known for it`)
    files.push({ path: name === 'index.html' ? '/space' : `/space/${name}`, contentType, body: await readFile(file) })
  }
  if (!files.some(({ path }) => path === '/space')) throw new Error(`${APP_CONFIG} makes no index.html`)
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
