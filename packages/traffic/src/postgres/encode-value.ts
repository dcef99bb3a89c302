/**
 * Encodes a parameter for PostgreSQL: bytes unchanged, everything else as text. Arrays become array literals, other
 * objects JSON. undefined is null.
 */
export function encodeValue(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  if (typeof value !== 'object') return String(value)
  if (Buffer.isBuffer(value)) return value
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  if (value instanceof Date) return value.toISOString()
  return Array.isArray(value) ? encodeArray(value) : JSON.stringify(value)
}

function encodeArray(items: readonly unknown[]): string {
  return `{${items.map((item) => (Array.isArray(item) ? encodeArray(item) : encodeItem(item))).join()}}`
}

function encodeItem(item: unknown): string {
  // Most items are numbers, or texts without a character that must be escaped.
  if (typeof item === 'number') return String(item)
  const value = encodeValue(item)
  if (value === null) return 'NULL'
  const text = typeof value === 'string' ? value : `\\x${value.toString('hex')}`
  return /["\\]/.test(text) ? `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"` : `"${text}"`
}
