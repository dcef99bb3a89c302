import { Resolver } from 'node:dns/promises'

export type ResolveName = (name: string) => Promise<string[]>

/**
 * Every address of a name, IPv4 first, since nothing tells whether this machine has IPv6. Asks DNS itself: getaddrinfo
 * would read /etc/hosts, add search domains and take the old number forms of addresses, and its slow lookups hold
 * threads that others need.
 */
export async function resolveName(name: string, servers?: string[]): Promise<string[]> {
  // New each time: it reads resolv.conf, which may have changed.
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}
