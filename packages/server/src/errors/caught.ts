import { isJsonObject } from '@atrium/contract/strict-json'

/** The thrown value as an Error: anything can be thrown. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

export function messageOf(thrown: unknown): string {
  return toError(thrown).message
}

/** The `code` by which Node and most libraries tell their errors apart, such as ENOENT. */
export function codeOf(thrown: unknown): string | undefined {
  const code = fieldOf(thrown, 'code')
  return typeof code === 'string' ? code : undefined
}

/** A property of an error of somebody else's making. */
export function fieldOf(thrown: unknown, name: string): unknown {
  return isJsonObject(thrown) ? thrown[name] : undefined
}
