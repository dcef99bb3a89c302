import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { formatNote, formatVerifier, makeVerifier, parseNote, signatureTypes } from '@atrium/log/note'
import { toHex } from '@atrium/log/bytes'
import { hashLeaf } from '@atrium/log/merkle'
import { formatProof } from '@atrium/log/proof'
import { cosign, ed25519PublicKey, signCheckpoint, witnessVerifier } from '@atrium/log/signing'
import { makeEntries, StoredLog } from '@atrium/log/testing/stored-log'
import { Tree } from '@atrium/log/tree'

const origin = 'api.example.com/log'
const epoch = {
  epoch: 'epo_1',
  issuer: 'ten_1',
  public_key: { kty: 'RSA', n: 'AQAB', e: 'AQAB' },
  value: 5,
  created_at: '2026-11-20T09:30:00.000Z',
  expires_at: null,
}

/** What comes after the epochs: nothing, the same page for ever, another empty page for ever, or no answer. */
type AfterEpochs = 'end' | 'same page' | 'more pages' | 'silence'

/** The transparency log of the platform, with its own key, and the epochs that the API offers. */
export function stubLog() {
  const seed = randomBytes(32)
  const witness = randomBytes(32)
  let log = new StoredLog()
  let isReachable = true
  let policy: string | undefined
  let hasCosigned = false
  const epochs: Record<string, unknown>[] = [epoch]
  let afterEpochs: AfterEpochs = 'end'

  function checkpoint(): string {
    const signed = signCheckpoint({ origin, size: log.size, root: log.root() }, seed)
    if (!hasCosigned) return signed
    const { text, signatures } = parseNote(signed)
    return formatNote({ text, signatures: [...signatures, cosign(text, 'w.example.org/w1', witness, 1_700_000_000)] })
  }

  async function proofOf(leaf: string): Promise<string | undefined> {
    const index = log.entries.findIndex((entry) => toHex(hashLeaf(entry)) === leaf)
    if (index === -1) return undefined
    const hashes = await new Tree(log.size, log.read).inclusionProof(index)
    return formatProof({ index, hashes, checkpoint: checkpoint() })
  }

  async function fileOf(path: string): Promise<string | Uint8Array | undefined> {
    if (path === 'checkpoint') return checkpoint()
    if (path === 'vkey') return `${formatVerifier(makeVerifier(origin, signatureTypes.note, ed25519PublicKey(seed)))}\n`
    if (path === 'policy') return policy
    if (path.startsWith('proof/')) return proofOf(path.slice('proof/'.length))
    return log.tiles.get(path)
  }

  return {
    epochs,
    /** Answers requests for the log and for epochs. Returns false for any other. */
    async answer({ pathname, searchParams }: URL, res: ServerResponse): Promise<boolean> {
      if (pathname === '/v1/epochs') {
        const from = Number(searchParams.get('cursor') ?? 0)
        const to = from + Number(searchParams.get('limit'))
        const isEnd = to >= epochs.length
        if (afterEpochs === 'silence' && from > 0) return true
        const next = isEnd && afterEpochs === 'same page' ? from : to
        const meta = isEnd && afterEpochs === 'end' ? {} : { next_cursor: String(next) }
        res.setHeader('content-type', 'application/json').end(JSON.stringify({ data: epochs.slice(from, to), meta }))
        return true
      }
      if (!pathname.startsWith('/log/')) return false
      const file = isReachable ? await fileOf(pathname.slice('/log/'.length)) : undefined
      if (!isReachable) res.writeHead(503).end()
      else if (file === undefined) res.writeHead(404).end()
      else res.end(file)
      return true
    },
    endEpochsWith(what: AfterEpochs): void {
      afterEpochs = what
    },
    append(...entries: object[]): void {
      log.append(entries.map((entry) => Buffer.from(JSON.stringify(entry))))
    },
    /** Another history with the same end, also signed by the log. */
    fork(): void {
      const { entries } = log
      log = new StoredLog()
      log.append([randomBytes(32), ...entries.slice(1), ...makeEntries(2, 50)])
    },
    /** As after the restore of an old backup. */
    rollBack(count: number): void {
      const { entries } = log
      log = new StoredLog()
      log.append(entries.slice(0, -count))
    },
    setReachable(is: boolean): void {
      isReachable = is
    },
    /** The installation publishes a policy, which its witness satisfies or not. */
    witnessed(by: boolean): void {
      policy = `witness w1 ${formatVerifier(witnessVerifier('w.example.org/w1', witness))}\nquorum w1\n`
      hasCosigned = by
    },
  }
}

export type StubLog = ReturnType<typeof stubLog>
