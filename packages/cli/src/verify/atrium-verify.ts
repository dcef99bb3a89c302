#!/usr/bin/env node
// `atrium verify` by itself: packages/cli/build/build-verify.ts makes one file of it, for whoever has nothing but Node 20.
import { parseArgs } from 'node:util'
import { verify } from './verify.ts'

const usage = `usage: node atrium-verify.mjs URL [--pin THUMBPRINT] [--rebuild] [--timeout SECONDS]

  URL        address of a Spaces service, or the link of a room (its key stays here); - reads it from standard input
  --pin      thumbprint (RFC 7638) that the certificate's key must have
  --rebuild  build the published source and compare: runs that source's code, so use a machine or container for it
  --timeout  seconds for everything together, by default 60, and 900 with --rebuild`

process.exitCode = await main()

async function main(): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        pin: { type: 'string' },
        rebuild: { type: 'boolean' },
        timeout: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    const [url, ...more] = positionals
    if (url !== undefined && more.length === 0 && !values.help) return await verify(url, values)
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) throw error
  }
  console.error(usage)
  return 2
}
