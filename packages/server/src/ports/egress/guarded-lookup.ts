import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { EgressError } from './egress-error.ts'
import { isLoopbackName, isReachable, refusedAddress, type Route } from './host-rule.ts'
import type { ResolveName } from './resolve-name.ts'

/** More are checked, but not tried: a name with thousands would keep a connection trying. */
const maxTried = 8

/**
 * The lookup function of net.connect. It must be called for all addresses (autoSelectFamily), else the connection
 * fails.
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
  // One bad address refuses the name. Dropping just that one would leave a name that is private to some and public to
  // others, which no honest endpoint has and which rebinding lives on.
  if (!addresses.every((address) => isReachable(address, route))) throw refusedAddress()
  return addresses.slice(0, maxTried).map((address) => ({ address, family: isIP(address) }))
}

function unresolved(cause?: unknown): never {
  throw new EgressError('dns', 'The host name cannot be resolved.', { cause })
}
