import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { parseCheckpoint } from '@atrium/log/checkpoint'
import { parseNote } from '@atrium/log/note'
import type { WitnessedTree } from '@atrium/log/witness'
import { OperatorError } from '../operator-api.ts'
import { readIfThere, replaceFile } from './state-file.ts'

/** The key of the witness: 32 bytes in base64url. The first start makes it. */
export async function openWitnessKey(folder: string): Promise<Buffer> {
  const path = join(folder, 'witness-key')
  const text = await readIfThere(path)
  if (text === undefined) {
    // What an old key cosigned says nothing about a new one, so a state needs its key. An empty one is of a first start
    // that was interrupted.
    const state = await readIfThere(statePath(folder))
    if (state !== undefined && state !== emptyState) throw new OperatorError(`${path} is missing, and the state is there`)
    const seed = randomBytes(32)
    await replaceFile(statePath(folder), emptyState)
    await replaceFile(path, `${seed.toString('base64url')}\n`)
    return seed
  }
  const seed = Buffer.from(text.trim(), 'base64url')
  if (seed.length !== 32) throw new OperatorError(`${path} is not a key of 32 bytes in base64url`)
  return seed
}

const emptyState = '{}\n'
const statePath = (folder: string) => join(folder, 'witness-state.json')

/** The checkpoints that the witness cosigned last, by origin, in one file that is replaced before an answer is sent. */
export class WitnessState {
  readonly #path: string
  readonly #checkpoints: Map<string, string>

  private constructor(path: string, checkpoints: Map<string, string>) {
    this.#path = path
    this.#checkpoints = checkpoints
  }

  static async open(folder: string): Promise<WitnessState> {
    const path = statePath(folder)
    const text = await readIfThere(path)
    if (text === undefined) {
      throw new OperatorError(
        `${path} is missing: without it, this witness could cosign a fork. Restore it, or use a new folder and key`,
      )
    }
    try {
      const stored = Object.entries(JSON.parse(text) as Record<string, string>)
      const checkpoints = new Map(stored.map(([origin, signed]) => [origin, withoutRepeats(signed)]))
      for (const signed of checkpoints.values()) parseCheckpoint(parseNote(signed).text)
      return new WitnessState(path, checkpoints)
    } catch {
      throw new OperatorError(`${path} is damaged: restore it, or use a new folder and key`)
    }
  }

  /** The checkpoint with the signatures of its log and of this witness. */
  findCheckpoint(origin: string): string | undefined {
    return this.#checkpoints.get(origin)
  }

  findTree(origin: string): WitnessedTree | undefined {
    const signed = this.#checkpoints.get(origin)
    return signed === undefined ? undefined : parseCheckpoint(parseNote(signed).text)
  }

  /** Returns once the checkpoint is on the disk. The caller replaces one checkpoint at a time. */
  async replace(origin: string, signed: string): Promise<void> {
    const next = { ...Object.fromEntries(this.#checkpoints), [origin]: signed }
    await replaceFile(this.#path, `${JSON.stringify(next, undefined, 2)}\n`)
    this.#checkpoints.set(origin, signed)
  }
}

/** An earlier version stored a signature of the log as often as a request had it, even too often to be read. */
function withoutRepeats(signed: string): string {
  const signatures = signed.lastIndexOf('\n\n') + 2
  return signed.slice(0, signatures) + [...new Set(signed.slice(signatures).split('\n'))].join('\n')
}
