import type { Config } from './config.ts'
import { isLoopback } from './is-loopback.ts'

/**
 * Returns a line if the console is at an http address of a network. ATRIUM_CONSOLE_URL may not be one. ATRIUM_PUBLIC_URL
 * may, for installations that do without the console, so that the start is not refused.
 */
export function consoleWarnings({ consoleUrl }: Pick<Config, 'consoleUrl'>): string[] {
  const { protocol, hostname } = new URL(consoleUrl)
  return protocol === 'https:' || isLoopback(hostname)
    ? []
    : [
        `the console is at ${consoleUrl}, without TLS: whoever reads along on the network can take over its sessions. ` +
          'Set ATRIUM_PUBLIC_URL, or ATRIUM_CONSOLE_URL for the console alone, to an https origin.',
      ]
}
