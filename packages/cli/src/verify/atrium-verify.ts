#!/usr/bin/env node
// `atrium verify` as a separate program: packages/cli/build/build-verify.ts builds one file of it that needs only Node
// 20.
import { parseArgs } from 'node:util'
import { exitWhenUnwritten } from '../end-unwritten.ts'
import { verify } from './verify.ts'

const usage = `usage: node atrium-verify.mjs URL [--pin THUMBPRINT] [--rebuild] [--log-policy FILE [--log-state FILE]] [--client FILE] [--timeout SECONDS]

  URL        address of a Space service, or the link of a room (its key is not sent); - reads it from standard input
  --pin      RFC 7638 thumbprint of the key that must have signed the certificate
  --rebuild  build the published source and compare the bytes. This runs code of that source: use a separate machine or container
  --log-policy FILE  policy (C2SP tlog-policy) with the key of the transparency log and its witnesses: checks the log
  --log-state FILE   remembers the head of the log, so that the next check proves that the log continues it
  --client FILE      compares the app in one file on this disk with what the service signs
  --timeout  time limit for all checks together (default: 60, with --rebuild 900)`

exitWhenUnwritten()
process.exitCode = await main()

async function main(): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: withPin(process.argv.slice(2)),
      allowPositionals: true,
      options: {
        pin: { type: 'string' },
        rebuild: { type: 'boolean' },
        'log-policy': { type: 'string' },
        'log-state': { type: 'string' },
        client: { type: 'string' },
        timeout: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    const [url, ...more] = positionals
    if (url !== undefined && more.length === 0 && !values.help)
      return await verify(url, { ...values, logPolicy: values['log-policy'], logState: values['log-state'] })
  } catch (error) {
    const isUsage = error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
    if (!isUsage) throw error
  }
  console.error(usage)
  return 2
}

/** The thumbprint of every 64th key begins with a dash. parseArgs takes such a value only in the same argument. */
function withPin(args: string[]): string[] {
  const at = args.indexOf('--pin')
  return at >= 0 && /^-[\w-]{42}$/.test(args[at + 1] ?? '') ? args.toSpliced(at, 2, `--pin=${args[at + 1]}`) : args
}
