import { isCredential, type CredentialKind } from '@atrium/contract/tokens'
import { readConfig } from '@atrium/server/config/config'
import { readEnv } from '@atrium/server/config/env'
import type { Command } from 'commander'
import { helpText } from './help-text.ts'
import { OperatorError } from './operator-api.ts'

export function addMcp(program: Command): void {
  program
    .command('mcp')
    .description('run an MCP server on stdin and stdout, for AI clients; its tools call the API of an installation')
    .option('--allow-writes', 'also offer the tools that change data or spend credits', false)
    .addHelpText(
      'after',
      helpText({
        examples: [
          'ATRIUM_KEY=wsk_… atrium mcp',
          'claude mcp add atrium --env ATRIUM_PUBLIC_URL=http://localhost:8787 --env ATRIUM_KEY=wsk_… -- atrium mcp',
        ],
        environment: {
          ATRIUM_PUBLIC_URL: 'address of the installation; default: http://localhost:PORT',
          ATRIUM_KEY: 'a secret (wsk_…) or publishable key (wpk_…)',
          ATRIUM_COLLECTION_TOKEN: 'optional: the token of one collection',
          ATRIUM_COUPON: 'optional: a coupon or wallet code, for sessions and paintings',
        },
        errors: [
          'Exit code 1 and one line on stderr if a credential is missing or mistyped. An error of the API is returned as the result of the tool.',
        ],
      }),
    )
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
      // Loaded on demand, because it takes longer to load than everything else.
      const { serveStdio } = await import('@atrium/mcp/serve-stdio')
      serveStdio({ publicUrl, key, collectionToken, coupon, allowWrites })
    })
}

/**
 * Checks credentials at the start, so that a mistyped one fails here and not at the first call. The error does not
 * quote it.
 */
function assertForm(name: string, value: string, kinds: CredentialKind[], what: string): void {
  if (!kinds.some((kind) => isCredential(kind, value))) throw new OperatorError(`${name} must be ${what}`)
}
