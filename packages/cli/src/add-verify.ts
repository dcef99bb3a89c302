import type { Command } from 'commander'

export function addVerify(program: Command): void {
  program
    .command('verify <url>')
    .description('check a Space service, or a room by its link: what is proved, what is trusted, what could not be checked')
    .option('--pin <thumbprint>', 'the key that must have signed the certificate (RFC 7638 thumbprint)')
    .option('--rebuild', 'build the published source and compare the bytes')
    .option('--timeout <seconds>', 'for everything together: by default 60, and 900 with --rebuild')
    .action(async (url: string, options: { pin?: string; rebuild?: boolean; timeout?: string }) => {
      const { verify } = await import('./verify/verify.ts')
      process.exitCode = await verify(url, options)
    })
}
