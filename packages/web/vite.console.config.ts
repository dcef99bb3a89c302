import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { oneFirstFile } from './build/one-first-file.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

// The console runs under `script-src 'self'` and `require-trusted-types-for 'script'`: every script is a file of its
// own, named after its content. The server puts the style into the page.
export default defineConfig({
  root: here('src/console'),
  base: '/console/',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: here('dist/console'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: oneFirstFile(here('src/console/main.tsx')),
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
})
