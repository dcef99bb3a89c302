import { getServiceOrigin, isFile } from './service.ts'

/** The provider where people prove who they are. */
export interface IdentityConfig {
  readonly issuer: string
  readonly client_id: string
  readonly label: string
  /** The development provider, which accepts any e-mail address without verification. */
  readonly development: boolean
}

export interface SpaceConfig {
  /** The public URL of the endpoint. This page uses its own origin. */
  readonly space_url: string
  readonly api_url: string
  /** The key with which this page calls the API; null: it cannot invite agents. */
  readonly publishable_key: string | null
  /** The page where people buy coupons, if the operator configured one. */
  readonly coupon_url?: string
  readonly service: string
  /** null: this service has no sign-in, and therefore no rooms with a list. */
  readonly identity: IdentityConfig | null
}

let loading: Promise<SpaceConfig> | undefined

/** The configuration of the page's service, which is fetched once: a page that changes its service is loaded anew. */
export function loadConfig(): Promise<SpaceConfig> {
  loading ??= fetchConfig(getServiceOrigin())
  return loading
}

/** Retries until it succeeds, because without the configuration the page cannot offer sign-in. */
async function fetchConfig(origin: string): Promise<SpaceConfig> {
  for (let tries = 0; ; tries++) {
    try {
      const signal = AbortSignal.timeout(10_000)
      const res = await fetch(`${origin}/space-config`, { credentials: 'omit', cache: 'no-store', signal })
      const config = res.ok && ((await res.json()) as SpaceConfig)
      // The provider cannot redirect to a file.
      if (config) return isFile() ? { ...config, identity: null } : config
    } catch {
      // Offline; the room says so, too.
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** tries, 15_000)))
  }
}
