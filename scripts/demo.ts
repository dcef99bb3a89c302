// `npm run demo`: plays a whole evening of examples/event-wall against the running server, as an app and its users
// would.
import { AtriumError } from '../packages/client/src/atrium-error.ts'
import { OperatorError } from '../packages/cli/src/operator-api.ts'
import { StartError } from '../packages/server/src/errors/start-error.ts'
import { playDemo } from './demo/play-demo.ts'

try {
  const { wallUrl, shareUrl, roomUrl, ownerToken, publishableKey } = await playDemo()
  console.log(
    [
      '',
      'The share page, for anyone with the link:',
      `  ${shareUrl}`,
      '',
      'The room where the agent was, for anyone with the link:',
      `  ${roomUrl}`,
      '',
      'What its owner holds, shown only here:',
      `  owner token      ${ownerToken}`,
      `  publishable key  ${publishableKey}`,
      '',
      'To delete the wall with all that is on it:',
      `  curl -i -X DELETE ${wallUrl} \\`,
      `    -H 'Authorization: Bearer ${publishableKey}' -H 'X-Collection-Token: ${ownerToken}'`,
    ].join('\n'),
  )
} catch (error) {
  console.error(lineOf(error) ?? error)
  process.exitCode = 1
}

/** Errors that the user can fix are printed as one line. Any other error is a fault and keeps its stack. */
function lineOf(error: unknown): string | undefined {
  if (error instanceof AtriumError) return `demo: ${error.message} (${error.code}, request ${error.requestId ?? 'unknown'})`
  if (error instanceof OperatorError || error instanceof StartError) return `demo: ${error.message}`
  return undefined
}
