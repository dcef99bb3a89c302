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
