import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { EgressError } from './egress-error.ts'
import { isLoopbackName, isReachable, refusedAddress, type Route } from './host-rule.ts'
import type { ResolveName } from './resolve-name.ts'

/**
 * Further addresses are checked, but not tried: a name with thousands of them would keep a connection attempt
 * running.
 */
const maxTried = 8

/**
 * The lookup function for net.connect. It must be called for all addresses (autoSelectFamily); otherwise the
 * connection fails.
 */
export function guardedLookup(resolve: ResolveName, route: Route): LookupFunction {
  return (name, _options, callback) => {
    void lookUp(name, resolve, route).then(
      (addresses) => callback(null, addresses),
      (error: Error) => callback(error, []),
    )
  }
}

async function lookUp(name: string, resolve: ResolveName, route: Route): Promise<LookupAddress[]> {
  // RFC 6761: these names always mean this machine, whatever DNS answers.
  const addresses = isLoopbackName(name) ? ['127.0.0.1', '::1'] : await resolve(name).catch(unresolved)
  if (addresses.length === 0) unresolved()
  // One refused address refuses the whole name. Skipping only that address would accept a name that is private for
  // some and public for others: no honest endpoint has one, and DNS rebinding depends on it.
  if (!addresses.every((address) => isReachable(address, route))) throw refusedAddress()
  return addresses.slice(0, maxTried).map((address) => ({ address, family: isIP(address) }))
}

function unresolved(cause?: unknown): never {
  throw new EgressError('dns', 'The host name cannot be resolved.', { cause })
}
