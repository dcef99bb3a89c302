import type { Command } from 'commander'
import { helpText } from './help-text.ts'
import { httpUrl, port, seconds } from './parse-options.ts'
import type { MonitorOptions } from './log/monitor.ts'

/** Adds the commands that watch transparency logs, from any machine. */
export function addLogCommands(program: Command): void {
  program
    .command('witness')
    .description('cosign the transparency logs of other installations (C2SP tlog-witness)')
    .requiredOption('--name <name>', 'name in the cosignatures, such as witness.example.org/w1')
    .requiredOption('--policy <file>', 'file with a line "log VKEY" for each log (C2SP tlog-policy)')
    .option('--data <folder>', 'folder of the key and of what was cosigned', './witness')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0: any', port, 8790)
    .addHelpText(
      'after',
      helpText({
        examples: ['atrium witness --name witness.example.org/w1 --policy logs.txt --data /var/lib/atrium-witness'],
        errors: [
          'Exit code 1 and one line on stderr if the policy or the data folder is wrong, or if the port is in use.',
          'The first line of the output is the line for the policy of a log: the name, the key and the address.',
        ],
      }),
    )
    .action(async (options: { name: string; policy: string; data: string; host: string; port: number }) => {
      const { runWitness } = await import('./log/run-witness.ts')
      await runWitness(options)
    })

  program
    .command('monitor')
    .argument('<url>', 'address of the log', httpUrl)
    .description('watch a transparency log: read every entry, and report growth, forks and unexpected entries')
    .option('--vkey <key>', 'verifier key of the log')
    .option('--policy <file>', 'file with the keys of the log and of its witnesses (C2SP tlog-policy)')
    .option('--state <file>', 'file that remembers what was seen', './monitor-state.json')
    .option('--expected <file>', 'file with a leaf hash in each line: other certificates and signing keys are unexpected')
    .option('--webhook <url>', 'address that receives each report as JSON', httpUrl)
    .option('--interval <seconds>', 'time between two looks', seconds, 60)
    .option('--once', 'look once; exit code 1 if something is wrong')
    .addHelpText(
      'after',
      helpText({
        examples: [
          'atrium monitor https://api.example.com/log --policy policy.txt --state /var/lib/atrium-monitor/state.json',
          'atrium monitor https://api.example.com/log --vkey VKEY --once',
        ],
        errors: [
          'Exit code 1 and one line on stderr if an option is wrong; with --once also if something is wrong with the log.',
        ],
      }),
    )
    .action(async (url: string, options: MonitorOptions) => {
      const { monitor } = await import('./log/monitor.ts')
      await monitor(url, options)
    })
}
