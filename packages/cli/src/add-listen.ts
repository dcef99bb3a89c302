import { eventTypes, type EventType } from '@atrium/contract/event-types'
import { type Command, InvalidArgumentError } from 'commander'
import { helpText } from './help-text.ts'
import type { ListenOptions } from './listen.ts'
import { httpUrl } from './parse-options.ts'

/** Adds the command that shows a developer the events of a tenant, without an address that the server can reach. */
export function addListen(program: Command): void {
  program
    .command('listen')
    .description('print the events of a tenant as they happen, and send them to a receiver of webhooks on this machine')
    .option('--types <types>', 'only events of these types, separated by commas', types)
    .option('--forward <url>', 'address that receives each event as a webhook would send it', httpUrl)
    .option('--secret-file <file>', 'file with the secret (whsec_…) that signs; default: a new one for each run')
    .option('--json', 'print each event as one line of JSON')
    .addHelpText(
      'after',
      helpText({
        examples: [
          'ATRIUM_KEY=wsk_… atrium listen',
          'ATRIUM_KEY=wsk_… atrium listen --types item.created --forward http://localhost:3000/hook',
        ],
        environment: {
          ATRIUM_PUBLIC_URL: 'address of the installation; default: http://localhost:PORT',
          ATRIUM_KEY: 'the secret key (wsk_…) of the tenant',
        },
        errors: [
          'Exit code 1 and one line on stderr if no server answers, or if it does not accept the key. After that, a lost connection is opened again, and nothing is missed.',
          'A delivery that fails is reported on stderr and not repeated. Events go to stdout, everything else to stderr.',
        ],
      }),
    )
    .action(async (options: ListenOptions) => {
      const { listen } = await import('./listen.ts')
      await listen(options)
    })
}

function types(text: string): EventType[] {
  return text.split(',').map((name) => {
    const type = eventTypes.find((known) => known === name.trim())
    if (!type) throw new InvalidArgumentError(`"${name}" is not a type of event. The types are: ${eventTypes.join(', ')}`)
    return type
  })
}
