import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as esbuild from 'esbuild'

const SPACE = 'packages/web/src/space'

/** Any service, chosen by the link that is opened. A browser refuses http from elsewhere than this device by itself. */
const CONNECT = 'https: http://localhost:* http://127.0.0.1:*'

/**
 * The Space app as one HTML file that works from a disk, without any further file. Its policy allows only the script and
 * the style in it. The same source gives the same bytes.
 */
export async function buildClientFile(root: string): Promise<string> {
  const [html, icon, script, style] = await Promise.all([
    readFile(join(root, SPACE, 'index.html'), 'utf8'),
    readFile(join(root, SPACE, 'icon.svg'), 'base64'),
    bundle(root, 'main.tsx', { plugins: [workerAsText(root)] }),
    bundle(root, 'style/space.css'),
  ])
  const policy = [
    "default-src 'none'",
    `connect-src ${CONNECT}`,
    `script-src '${hashOf(script)}' 'wasm-unsafe-eval'`,
    'worker-src blob:',
    `style-src '${hashOf(style)}'`,
    'img-src blob: data:',
    "form-action 'none'",
    "object-src 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
  const parts: readonly (readonly [RegExp, string])[] = [
    [/<html lang="en">/, '<html lang="en" data-client="file">'],
    [
      /<meta charset="utf-8" \/>/,
      `<meta charset="utf-8" />\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`,
    ],
    [/<link rel="icon"[^>]*>/, `<link rel="icon" href="data:image/svg+xml;base64,${icon}" />`],
    [/<link rel="stylesheet"[^>]*>/, `<style>${style}</style>`],
    [/<script type="module"[^>]*><\/script>/, `<script type="module">${script}</script>`],
  ]
  return parts.reduce((text, [tag, part]) => {
    if (!tag.test(text)) throw new Error(`${SPACE}/index.html has no ${tag.source}`)
    return text.replace(tag, () => part)
  }, html)
}

async function bundle(
  root: string,
  entry: string,
  { format = 'esm', plugins = [] }: Pick<esbuild.BuildOptions, 'format' | 'plugins'> = {},
): Promise<string> {
  const { outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [join(SPACE, entry)],
    bundle: true,
    write: false,
    minify: true,
    // Without its comments and names of folders, the bytes depend on the source alone.
    legalComments: 'none',
    platform: 'browser',
    target: 'es2023',
    format,
    charset: 'utf8',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The options are given here, so that no tsconfig.json of a folder applies.
    tsconfigRaw: '{}',
    plugins,
    logLevel: 'silent',
  })
  const [file] = outputFiles
  if (!file) throw new Error('esbuild made no file')
  return file.text
}

/** The address of a worker is that of a blob with its script, because a file has no other files beside it. */
function workerAsText(root: string): esbuild.Plugin {
  return {
    name: 'atrium:worker-as-text',
    setup(build) {
      build.onResolve({ filter: /\?worker&url$/ }, ({ path, resolveDir }) => {
        const entry = join(resolveDir, path.replace(/\?.*/, '')).slice(join(root, SPACE).length + 1)
        return { path: entry, namespace: 'worker' }
      })
      build.onLoad({ filter: /.*/, namespace: 'worker' }, async ({ path }) => {
        const script = JSON.stringify(await bundle(root, path, { format: 'iife' }))
        return { contents: `export default URL.createObjectURL(new Blob([${script}], { type: 'text/javascript' }))` }
      })
    },
  }
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
