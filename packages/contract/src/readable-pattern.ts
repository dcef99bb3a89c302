import { defaultEndpoint } from './tokens.ts'

/** The sets of characters that patterns of the contract repeat. */
const sets: Partial<Record<string, string>> = {
  '[A-Za-z0-9_-]': 'letters, digits, _ and -',
  '[a-zA-Z0-9_-]': 'letters, digits, _ and -',
  '[a-z0-9-]': 'a-z, 0-9 and -',
  '[a-z0-9._-]': 'a-z, 0-9, ".", _ and -',
  '[0-9a-f]': '0-9 and a-f',
  '[!-~]': 'ASCII without spaces',
  '[\\x20-\\x7e]': 'ASCII',
}

const others: Partial<Record<string, string>> = {
  '^https?://': 'must begin with https:// or http://',
  '^sk_': 'must be a summon key, which begins with sk_',
  '^([1-5](\\d\\d|xx)|errors)$': 'must be a status such as 404, a class such as 4xx, or errors',
  '^[A-Za-z0-9][A-Za-z0-9 ._@-]*$': 'must begin with a letter or digit and have only letters, digits, spaces, ".", _, @ and -',
  '^[^\\u0000]*$': 'must not have a NUL character',
  '^[A-Za-z0-9_-]+\\.\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]{22}$':
    'must be a compact JWE with the algorithm dir or ECDH-ES (RFC 7516): five parts of base64url, the second one empty',
}

/** What to write instead of a value that does not match the pattern; undefined for a pattern without words. */
export function readablePattern(pattern: string): string | undefined {
  const id = /^\^([a-z]{3}_)\[0-9A-Za-z\]\{22\}\$$/.exec(pattern)?.[1]
  if (id !== undefined) return `must be an id: ${id} and 22 letters and digits`
  const endpoint = /^\^\(\w+\|([a-z]{3}_)\[0-9A-Za-z\]\{22\}\)\$$/.exec(pattern)?.[1]
  if (endpoint !== undefined) return `must be ${defaultEndpoint}, or an id: ${endpoint} and 22 letters and digits`
  const [, set = '', least = '', most] = /^\^(\[[^\]]+\])(?:\{(\d+)(?:,(\d+))?\}|\+)\$$/.exec(pattern) ?? []
  const characters = sets[set]
  if (characters === undefined) return others[pattern]
  if (least === '') return `must have only ${characters}`
  const count = most === undefined ? `exactly ${least}` : `${least} to ${most}`
  return `must have ${count} characters of ${characters}`
}
