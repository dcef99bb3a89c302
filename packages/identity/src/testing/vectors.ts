import { existsSync, readFileSync } from 'node:fs'

/** The parts of a Wycheproof file that signature tests have in common (C2SP/wycheproof, testvectors_v1). */
export interface WycheproofFile {
  readonly testGroups: readonly {
    readonly publicKeyPem?: string
    readonly publicKeyDer?: string
    readonly sha?: string
    readonly tests: readonly {
      readonly tcId: number
      readonly comment: string
      readonly msg: string
      readonly sig: string
      readonly result: 'valid' | 'invalid' | 'acceptable'
      readonly flags: readonly string[]
    }[]
  }[]
}

/** The vectors lie beside the repository, not in it: undefined where they are not. */
export function findWycheproof(name: string): WycheproofFile | undefined {
  const file = new URL(`../../../../../shared/vectors/wycheproof-${name}_test.json`, import.meta.url)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as WycheproofFile) : undefined
}
