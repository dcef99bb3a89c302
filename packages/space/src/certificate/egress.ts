import type { IncomingMessage } from 'node:http'
import { parseStrictJson } from '@atrium/contract/strict-json'
import { fetchJwkSet, type FetchJson } from '@atrium/identity/discovery'

/**
 * How the certificate names the database. Only the operator's DATABASE_URL has its address, which would disclose
 * details of the network. Data is sealed before it leaves this process.
 */
export const DATABASE = 'postgres'

const MAX_ANSWER_BYTES = 65_536
const TIMEOUT_MS = 5_000

export interface Egress {
  readonly allowed: readonly string[]
  /** GETs JSON from an allowed origin: without redirects, at most 64 KiB, 5 s in total. Rejects otherwise. */
  readonly fetchJson: FetchJson
}

/**
 * The only HTTP client of this process. `allowed` are origins: the same list as in the certificate. Entries that are
 * not an origin (the database) allow nothing here. A test checks the bundle for this: no other file in it may fetch
 * or connect.
 */
export function openEgress(allowed: readonly string[]): Egress {
  return {
    allowed,
    async fetchJson(address) {
      const url = new URL(address)
      const { origin } = url
      if (!allowed.includes(origin)) throw new Error(`Not in the certificate's egress: ${origin}`)
      if (url.username || url.password) throw new Error(`No password is sent to ${origin}`)
      const answer = await get(url)
      if (answer.statusCode !== 200) {
        answer.destroy()
        throw new Error(`${origin} answered ${answer.statusCode}`)
      }
      return parseStrictJson(await readBytes(answer, origin), { anyNumber: true })
    },
  }
}

/**
 * Follows no redirect. The time limit covers the body too. `fetch` is not used: its library would take 10 MiB of this
 * process, for a few requests.
 */
function get(url: URL): Promise<IncomingMessage> {
  const client = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  return new Promise((resolve, reject) => {
    client.get(url, { signal, headers: { accept: 'application/json' } }, resolve).on('error', reject)
  })
}

/** Leaving the loop closes the connection. */
async function readBytes(answer: IncomingMessage, origin: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw new Error(`${origin} answered more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export interface EgressOptions {
  /**
   * The platform's origin, which publishes the keys of its agents' tokens; undefined: no keys are fetched from it.
   */
  readonly platformIssuer?: string | undefined
  /** OIDC_ISSUER; undefined: no identity provider. */
  readonly issuer?: string | undefined
  /** OIDC_JWKS_ORIGIN: the origin of the provider's keys. If it is set, the provider is not asked at the start. */
  readonly keysOrigin?: string | undefined
}

export interface FoundEgress {
  readonly egress: readonly string[]
  /** Why the origin of the keys is not in the list; for the log. */
  readonly problem?: unknown
}

/**
 * Returns the list for the certificate and `openEgress`: the database; the platform's origin, which publishes its
 * own keys; the identity provider's origin; and the origin of its keys, which may differ (accounts.google.com
 * publishes them at www.googleapis.com). The last one is configured, or asked for once at the start: the certificate
 * must not change after people have checked it, so a provider that later names another host is refused. A provider
 * that is unavailable at the start does not stop open rooms: then only its own origin is listed, and the caller logs
 * why.
 */
export async function findEgress({ platformIssuer, issuer, keysOrigin }: EgressOptions): Promise<FoundEgress> {
  const always = [DATABASE, ...(platformIssuer === undefined ? [] : [new URL(platformIssuer).origin])]
  if (issuer === undefined) return { egress: always }
  const issuerOrigin = new URL(issuer).origin
  const listWith = (origin: string) => [...new Set([...always, issuerOrigin, origin])]
  if (keysOrigin !== undefined) return { egress: listWith(new URL(keysOrigin).origin) }
  try {
    return { egress: listWith(await discoverKeysOrigin(issuer, issuerOrigin)) }
  } catch (problem) {
    return { egress: listWith(issuerOrigin), problem }
  }
}

async function discoverKeysOrigin(issuer: string, issuerOrigin: string): Promise<string> {
  const { fetchJson } = openEgress([issuerOrigin])
  const asked: string[] = []
  // `identity` checks the discovery document. The key set, which is the second request, is not fetched here.
  await fetchJwkSet(issuer, async (url) => (asked.push(url) === 1 ? fetchJson(url) : undefined))
  return new URL(asked[1] ?? issuer).origin
}
