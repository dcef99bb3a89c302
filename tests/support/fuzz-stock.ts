import { mapConcurrently } from './map-concurrently.ts'
import type { TestTenant } from './call-api.ts'
import { buyLicense, deepWallet } from './credits.ts'
import { makeAgent } from './sessions.ts'

/** Things that generated requests cannot create themselves. */
export interface Stock {
  wallet: string[]
  license: string[]
  /** Agents that launches may name. Others might call generated addresses. */
  launchable: string[]
}

const licenses = 40

/** Creates wallets, paid license keys and agents: remote ones on this machine, and hosted ones. */
export async function makeStock(origin: string, tenants: readonly TestTenant[]): Promise<Stock> {
  const wallet = await Promise.all(tenants.map((tenant) => deepWallet(origin, tenant)))
  const license = await mapConcurrently([...Array(licenses).keys()], 8, (n) =>
    buyLicense(origin, tenants[n % tenants.length]!.secret, 20),
  )
  const manifests = [{ endpoint: undefined, price_credits: 3 }, {}, { price_credits: 1 }]
  const launchable = await Promise.all(
    tenants.flatMap((tenant) => manifests.map((manifest) => makeAgent(origin, tenant, manifest))),
  )
  return { wallet, license, launchable }
}
