import { Resolver } from 'node:dns/promises'

export type ResolveName = (name: string) => Promise<string[]>

/**
 * Resolves a name to all of its addresses, IPv4 first, because this machine may have no IPv6. Queries DNS directly:
 * getaddrinfo would read /etc/hosts, add search domains and accept old numeric forms, and its slow look-ups would
 * occupy threads that others need.
 */
export async function resolveName(name: string, servers?: string[]): Promise<string[]> {
  // Created for each look-up, because it reads resolv.conf, which may have changed.
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}
