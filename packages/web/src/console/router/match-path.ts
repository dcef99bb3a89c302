export type Params = Readonly<Record<string, string>>

/** The parameters of `path` by the names of `pattern`, such as /collections/:id; undefined if it does not match. */
export function matchPath(pattern: string, path: string): Params | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [at, part] of wanted.entries()) {
    const value = given[at] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = decode(value)
    else if (part !== value) return undefined
  }
  return params
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // An address that was cut inside an escape. No object has such an id.
  }
}
