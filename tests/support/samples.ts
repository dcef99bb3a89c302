import { makeCollection, type CallOptions, type TestTenant } from './call-api.ts'
import { newRoom } from './sessions.ts'

/** A request that creates one thing with a mark by which it is found. */
export interface Sample {
  route: string
  options: CallOptions
  found: string
}

/** What makes them, and pays. */
export interface Means {
  tenant: TestTenant
  agentId: string
  wallet: string
}

const shop = 'https://shop.example/'

export async function makeSamples(
  origin: string,
  { tenant, agentId, wallet }: Means,
  mark: string,
): Promise<Record<string, Sample>> {
  const { id } = await makeCollection(origin, tenant.publishable)
  const key = tenant.publishable
  const operator = true
  return {
    createCollection: {
      route: 'POST /v1/collections',
      options: { key, body: { metadata: { mark } } },
      found: `collections where metadata->>'mark'`,
    },
    addItem: {
      route: `POST /v1/collections/${id}/items`,
      options: { key, body: { type: 'message', content: { mark } } },
      found: `items where content->>'mark'`,
    },
    createKey: {
      route: 'POST /v1/tenant/keys',
      options: { key: tenant.secret, body: { kind: 'publishable', name: mark } },
      found: 'api_keys where name',
    },
    createTenant: { route: 'POST /v1/tenants', options: { operator, body: { name: mark } }, found: 'tenants where name' },
    registerAgent: {
      route: 'POST /agents',
      options: {
        key: tenant.secret,
        body: { name: mark, description: 'd', instructions: '', price_credits: 0, max_minutes: 1 },
      },
      found: 'agents where name',
    },
    createCheckout: {
      route: 'POST /v1/checkout',
      options: {
        key: tenant.secret,
        body: { purpose: 'license_key', credits: 5, success_url: `${shop}${mark}`, cancel_url: shop },
      },
      found: `checkouts where substr(success_url, ${shop.length + 1})`,
    },
    grantCoupon: {
      route: 'POST /v1/wallets/grant',
      options: { key: tenant.secret, body: { amount: 1, wallet_code: wallet, memo: mark } },
      found: 'ledger_transfers where memo',
    },
    launchSession: {
      route: 'POST /v1/sessions',
      options: { key, body: { agent_id: agentId, room: { ...newRoom(), room: mark }, coupon: wallet } },
      found: 'sessions where room',
    },
  }
}
