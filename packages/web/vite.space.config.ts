import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { addIntegrity } from './build/add-integrity.ts'
import { importEachScript } from './build/import-each-script.ts'
import { oneFirstFile } from './build/one-first-file.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

// The page runs under `script-src 'self'` and `require-trusted-types-for 'script'`. Every script and style is a file
// of its own, named after its content, with its hash in the page. Nothing but the import map is inlined. The same source gives the same bytes.
export default defineConfig({
  root: here('src/space'),
  base: '/space/',
  publicDir: false,
  plugins: [importEachScript(), addIntegrity()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: {
    format: 'iife',
    rolldownOptions: { output: { entryFileNames: 'assets/[name]-[hash].js' } },
  },
  build: {
    outDir: here('dist/space'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: oneFirstFile(here('src/space/main.tsx')),
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
})
