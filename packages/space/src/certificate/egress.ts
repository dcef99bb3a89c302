import { parseStrictJson } from '@atrium/contract/strict-json'
import { fetchJwkSet, type FetchJson } from '@atrium/identity/discovery'

/**
 * How the certificate names the database. Which one it is, only the operator's DATABASE_URL says: the address would tell strangers of
 * the inside of his network, and what is stored there is sealed before it leaves this process.
 */
export const DATABASE = 'postgres'

const MAX_ANSWER_BYTES = 65_536
const TIMEOUT_MS = 5_000

export interface Egress {
  readonly allowed: readonly string[]
  /** GETs JSON from an allowed origin: no redirects, at most 64 KiB, 5 s in all. Rejects for anything else. */
  readonly fetchJson: FetchJson
}

/**
 * The only way out of this process over HTTP. `allowed` are origins, and the very list that the certificate gives; entries that are no
 * origin (the database) open nothing here. A test holds the bundle to it: no other file in it may fetch or connect.
 */
export function openEgress(allowed: readonly string[]): Egress {
  return {
    allowed,
    async fetchJson(url) {
      const { origin } = new URL(url)
      if (!allowed.includes(origin)) throw new Error(`Not in the certificate's egress: ${origin}`)
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: 'application/json' } })
      if (response.status !== 200 || !response.body) {
        await response.body?.cancel()
        throw new Error(`${origin} answered ${response.status}`)
      }
      return parseStrictJson(await readBytes(response.body, origin), { anyNumber: true })
    },
  }
}

/** Leaving the loop cancels the body, and with it the connection. */
async function readBytes(body: ReadableStream<Uint8Array>, origin: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw new Error(`${origin} answered more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

export interface EgressOptions {
  /** The platform's origin, which has the keys of its agents' tokens; undefined: it is not asked for any. */
  readonly platformIssuer?: string | undefined
  /** OIDC_ISSUER; undefined: no provider. */
  readonly issuer?: string | undefined
  /** OIDC_JWKS_ORIGIN: where the provider keeps its keys, when that is not to be asked at start. */
  readonly keysOrigin?: string | undefined
}

export interface FoundEgress {
  readonly egress: readonly string[]
  /** Why the keys' origin is not in the list; for the log. */
  readonly problem?: unknown
}

/**
 * The list for certificate and `openEgress`: the database, the platform's origin, which keeps its keys at home, the identity provider's,
 * and the origin of its keys, which may be another (accounts.google.com has them at www.googleapis.com). The last is configured or asked
 * for once, at start: the certificate must not change under people who have checked it, and a provider that later names another host is
 * refused. A provider that is down at start does not stop open rooms: its own origin alone is then listed, and the caller says in the
 * log why.
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
  // identity checks the discovery document; the key set itself, its second question, is not fetched here.
  await fetchJwkSet(issuer, async (url) => (asked.push(url) === 1 ? fetchJson(url) : undefined))
  return new URL(asked[1] ?? issuer).origin
}
