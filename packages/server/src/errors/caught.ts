import { isJsonObject } from '@atrium/contract/strict-json'

/** The thrown value as an Error: anything can be thrown. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

export function messageOf(thrown: unknown): string {
  return toError(thrown).message
}

/** The `code` of an error of Node or of a library, such as ENOENT. */
export function codeOf(thrown: unknown): string | undefined {
  const code = fieldOf(thrown, 'code')
  return typeof code === 'string' ? code : undefined
}

/** Whether a disk, or what an account may use of it, is full. The same may succeed later. */
export function isDiskFull(thrown: unknown): boolean {
  const code = codeOf(thrown)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** A property of an error from outside this code, whose type is not known. */
export function fieldOf(thrown: unknown, name: string): unknown {
  return isJsonObject(thrown) ? thrown[name] : undefined
}
