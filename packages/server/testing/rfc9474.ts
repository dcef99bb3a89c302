import { existsSync, readFileSync } from 'node:fs'

/** A vector of RFC 9474, appendix A. All fields except the name are hex; numbers have the prefix 0x. */
export interface Rfc9474Vector {
  readonly name: string
  readonly n: string
  readonly e: string
  readonly input_msg: string
  readonly sLen: string
  readonly sig: string
}

/** The vectors are beside the repository, not in it. Undefined if they are missing. */
export function findRfc9474(): Rfc9474Vector[] | undefined {
  const file = new URL('../../../../shared/vectors/rfc9474.json', import.meta.url)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Rfc9474Vector[]) : undefined
}
