import { isCredential, type CredentialKind } from '@atrium/contract/tokens'
import { readConfig } from '@atrium/server/config/config'
import { readEnv } from '@atrium/server/config/env'
import type { Command } from 'commander'
import { OperatorError } from './operator-api.ts'

export function addMcp(program: Command): void {
  program
    .command('mcp')
    .description(
      'an MCP server on stdin and stdout, for an AI client to start: tools on the API at ATRIUM_PUBLIC_URL with the key in ATRIUM_KEY; ' +
        'ATRIUM_COLLECTION_TOKEN and ATRIUM_COUPON are optional',
    )
    .option('--allow-writes', 'also offer the tools that change data or spend credits', false)
    .action(async ({ allowWrites }: { allowWrites: boolean }) => {
      const env = readEnv()
      const { key, collectionToken, coupon } = env
      if (key === undefined) throw new OperatorError('no key: set ATRIUM_KEY to a secret (wsk_…) or publishable key (wpk_…)')
      assertForm('ATRIUM_KEY', key, ['secretKey', 'publishableKey'], 'a whole secret (wsk_…) or publishable key (wpk_…)')
      if (collectionToken !== undefined)
        assertForm(
          'ATRIUM_COLLECTION_TOKEN',
          collectionToken,
          ['adminToken', 'contributorToken'],
          'a whole token (cat_… or cct_…)',
        )
      if (coupon !== undefined)
        assertForm('ATRIUM_COUPON', coupon, ['coupon', 'walletCode'], 'a whole coupon (cpn_…) or wallet code (wlt_…)')
      const { publicUrl } = readConfig(env)
      // Loaded when used: it takes longer than all the rest.
      const { serveStdio } = await import('@atrium/mcp/serve-stdio')
      serveStdio({ publicUrl, key, collectionToken, coupon, allowWrites })
    })
}

/** A mistyped credential fails here and not at the first call. It is not quoted. */
function assertForm(name: string, value: string, kinds: CredentialKind[], what: string): void {
  if (!kinds.some((kind) => isCredential(kind, value))) throw new OperatorError(`${name} must be ${what}`)
}
