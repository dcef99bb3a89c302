import { existsSync, readFileSync } from 'node:fs'

/** The parts of a Wycheproof file that are read here (C2SP/wycheproof, testvectors_v1). Bytes are hex. */
interface VectorFile {
  readonly testGroups: readonly {
    readonly keySize: number
    readonly ivSize?: number
    readonly tests: readonly KeyWrapVector[]
  }[]
}

export interface KeyWrapVector {
  readonly tcId: number
  readonly comment: string
  readonly key: string
  readonly msg: string
  readonly ct: string
  readonly result: 'valid' | 'invalid' | 'acceptable'
}

export interface GcmVector extends KeyWrapVector {
  readonly iv: string
  readonly aad: string
  readonly tag: string
}

/** Of A256GCM's sizes. The vectors lie beside the repository, not in it: undefined where they are not. */
export const gcmVectors = findVectors('aes_gcm', 256, 96) as readonly GcmVector[] | undefined
/** Of A256KW's key size, wrapping anything. */
export const keyWrapVectors = findVectors('aes_wrap', 256)

export const skip = gcmVectors && keyWrapVectors ? false : '../shared/vectors is not there'

function findVectors(name: string, keySize: number, ivSize?: number): readonly KeyWrapVector[] | undefined {
  const file = new URL(`../../../../../shared/vectors/wycheproof-${name}_test.json`, import.meta.url)
  if (!existsSync(file)) return undefined
  const { testGroups } = JSON.parse(readFileSync(file, 'utf8')) as VectorFile
  return testGroups.filter((group) => group.keySize === keySize && group.ivSize === ivSize).flatMap(({ tests }) => tests)
}

export function hex(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, 'hex'))
}
