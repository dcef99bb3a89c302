import { existsSync, readFileSync } from 'node:fs'

/** A vector of RFC 9474, appendix A. All but the name is hex; numbers have 0x before it. */
export interface Rfc9474Vector {
  readonly name: string
  readonly n: string
  readonly e: string
  readonly input_msg: string
  readonly sLen: string
  readonly sig: string
}

/** The vectors lie beside the repository, not in it: undefined where they are not. */
export function findRfc9474(): Rfc9474Vector[] | undefined {
  const file = new URL('../../../../shared/vectors/rfc9474.json', import.meta.url)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Rfc9474Vector[]) : undefined
}
