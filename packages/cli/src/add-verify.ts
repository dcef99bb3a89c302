import type { Command } from 'commander'

export function addVerify(program: Command): void {
  program
    .command('verify <url>')
    .description('check a Space service, or a room by its link; prints what is proved, what is trusted and what was not checked')
    .option('--pin <thumbprint>', 'RFC 7638 thumbprint of the key that must have signed the certificate')
    .option('--rebuild', 'build the published source and compare the bytes')
    .option('--timeout <seconds>', 'time limit for all checks together (default: 60, with --rebuild 900)')
    .action(async (url: string, options: { pin?: string; rebuild?: boolean; timeout?: string }) => {
      const { verify } = await import('./verify/verify.ts')
      process.exitCode = await verify(url, options)
    })
}
