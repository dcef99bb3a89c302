import type { Command } from 'commander'
import { helpText } from './help-text.ts'

interface VerifyFlags {
  pin?: string
  rebuild?: boolean
  timeout?: string
  logPolicy?: string
  logState?: string
  client?: string
}

export function addVerify(program: Command): void {
  program
    .command('verify <url>')
    .description(
      'check a Space service, or a room by its link; print what is proved, what must be trusted and what was not checked',
    )
    .option('--pin <thumbprint>', 'RFC 7638 thumbprint of the key that must have signed the certificate')
    .option('--rebuild', 'build the published source and compare the bytes')
    .option('--log-policy <file>', 'check the transparency log: its key and witnesses (C2SP tlog-policy)')
    .option('--log-state <file>', 'remember the head of the log, and prove that it continues')
    .option('--client <file>', 'compare the app in one file on this disk with what the service signs')
    .option('--timeout <seconds>', 'time limit for all checks together (default: 60, with --rebuild 900)')
    .addHelpText(
      'after',
      helpText({
        examples: [
          'atrium verify https://spaces.example.com',
          "atrium verify 'https://spaces.example.com/space#ROOM.KEY' --rebuild",
          'atrium verify https://spaces.example.com --log-policy policy.txt --log-state seen.json',
          "atrium verify 'https://spaces.example.com/space#ROOM~KEY'",
          'atrium verify https://spaces.example.com --client space.html',
          'atrium verify - < link.txt',
        ],
        errors: [
          'Exit code 1: a check failed, the time ended first, or it was stopped. 2: the address or an option is not valid.',
          'The key in the link of a room is visible in the list of processes. With - as url, the link is read from stdin.',
        ],
      }),
    )
    .action(async (url: string, options: VerifyFlags) => {
      const { verify } = await import('./verify/verify.ts')
      process.exitCode = await verify(url, options)
    })
}
