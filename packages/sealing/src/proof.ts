/** A request of the Space endpoint. */
export interface ProvableRequest {
  readonly op: string
  readonly room: string
  readonly message?: { readonly text: string; readonly reply_to?: string | undefined; readonly client_id?: string | undefined }
  /** The name that a guest claims in a turn. */
  readonly name?: string | undefined
}

/** Members that identify the caller or open the room are not arguments. The room key must not be hashed. */
const notArguments = new Set(['op', 'room', 'mk', 'idToken', 'spk', 'proof', 'signature'])

/**
 * The text whose SHA-256 a proof of possession signs. For `turn` it is the message as JSON with its members in the
 * order text, reply_to, client_id, and last the name that a guest claims, if any. For `poll`, which changes nothing,
 * it is the empty text. For all others it is the arguments of the request (all its members but op, room, mk,
 * idToken, spk, proof and signature) as canonical JSON (RFC 8785), so that a captured proof allows only what it was made for.
 */
export function proofContent(request: ProvableRequest): string {
  if (request.op === 'poll') return ''
  if (request.op === 'turn' && request.message) {
    const { text, reply_to, client_id } = request.message
    return JSON.stringify({ text, reply_to, client_id, name: request.name })
  }
  return canonicalJson(Object.fromEntries(Object.entries(request).filter(([name]) => !notArguments.has(name))))
}

/**
 * The bytes that the device key signs as the payload of a compact JWS (ES256, RFC 7515). `sha256` is that of
 * `proofContent` in lower-case hex. The caller computes it, because browsers can hash only asynchronously.
 */
export function proofPayload({ op, room }: ProvableRequest, sha256: string, nowMs = Date.now()): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify({ op, room, iat: Math.floor(nowMs / 1_000), sha256 }))
}

/**
 * RFC 8785 for the values in JSON requests: JSON.stringify already writes strings and numbers in its form, so only
 * the order of members remains.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = value as Readonly<Record<string, unknown>>
  // The default order of sort is by UTF-16 code units, as RFC 8785 requires.
  const names = Object.keys(members)
    .filter((name) => members[name] !== undefined)
    .sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(members[name])}`).join(',')}}`
}
