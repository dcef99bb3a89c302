import { invalid } from '#errors/api-error.ts'

type Json = Record<string, unknown>

/** JSON Merge Patch (RFC 7396): null removes a member, objects merge, and any other value replaces. */
export function mergePatch(target: Json, patch: Json): Json {
  const merged: Json = { ...target }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else if (isObject(value)) merged[name] = mergePatch(isObject(merged[name]) ? merged[name] : {}, value)
    else merged[name] = value
  }
  return merged
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Throws if the value's JSON exceeds the limit. */
export function assertJsonSize(value: unknown, maxBytes: number, path: string): void {
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > maxBytes) throw invalid(path, `too large: ${bytes} bytes of JSON, at most ${maxBytes}`)
}
