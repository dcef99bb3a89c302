import { LogError } from './log-error.ts'
import { cosignedAt } from './cosignature.ts'
import { isSame } from './bytes.ts'
import { formatVerifier, parseVerifier, signatureTypes, type Note, type Verifier } from './note.ts'

interface Peer {
  verifier: Verifier
  /** A log's address, or the address under which a witness serves add-checkpoint. */
  url: string | undefined
}

interface Witness extends Peer {
  name: string
}

interface Group {
  threshold: number
  members: string[]
}

/** Which logs are known, and which witnesses must have cosigned a checkpoint (C2SP tlog-policy). */
export interface Policy {
  logs: Peer[]
  witnesses: Witness[]
  groups: Map<string, Group>
  /** A witness, a group, or `none`. */
  quorum: string
}

/** Reads a policy file. Throws LogError with the number of the line. */
export function parsePolicy(text: string): Policy {
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(text)) throw new LogError('the policy has control characters')
  const policy: Policy = { logs: [], witnesses: [], groups: new Map(), quorum: '' }
  const lines = text.split('\n')
  lines.forEach((line, i) => {
    const words = line.split(/[ \t]/).filter((word) => word !== '')
    const [keyword, ...values] = words
    if (keyword === undefined || keyword.startsWith('#')) return
    const read = readers.get(keyword)
    if (read === undefined) throw new LogError(`line ${i + 1} of the policy begins with "${keyword}"`)
    try {
      read(policy, values)
    } catch (err) {
      throw err instanceof LogError ? new LogError(`line ${i + 1} of the policy: ${err.message}`) : err
    }
  })
  if (policy.quorum === '') throw new LogError('the policy has no quorum line')
  return policy
}

/** The lines that `parsePolicy` reads, without comments. */
export function formatPolicy({ logs, witnesses, groups, quorum }: Policy): string {
  const withUrl = (words: string[], url: string | undefined) => [...words, ...(url === undefined ? [] : [url])].join(' ')
  return [
    ...logs.map(({ verifier, url }) => withUrl(['log', formatVerifier(verifier)], url)),
    ...witnesses.map(({ name, verifier, url }) => withUrl(['witness', name, formatVerifier(verifier)], url)),
    ...[...groups].map(([name, { threshold, members }]) => ['group', name, threshold, ...members].join(' ')),
    `quorum ${quorum}\n`,
  ].join('\n')
}

type Reader = (policy: Policy, values: string[]) => void

const readers = new Map<string, Reader>([
  ['log', readLog],
  ['witness', readWitness],
  ['group', readGroup],
  ['quorum', readQuorum],
])

function readLog({ logs }: Policy, [vkey, url, ...others]: string[]): void {
  if (vkey === undefined || others.length > 0) throw new LogError('the form is log VKEY [URL]')
  logs.push(readPeer(logs, vkey, url, signatureTypes.note))
}

function readWitness(policy: Policy, [name, vkey, url, ...others]: string[]): void {
  if (name === undefined || vkey === undefined || others.length > 0) {
    throw new LogError('the form is witness NAME VKEY [URL]')
  }
  assertNewName(policy, name)
  policy.witnesses.push({ name, ...readPeer(policy.witnesses, vkey, url, signatureTypes.cosignature) })
}

function readPeer(known: Peer[], vkey: string, url: string | undefined, type: Verifier['type']): Peer {
  const verifier = parseVerifier(vkey)
  if (verifier.type !== type) throw new LogError(`the verifier key of ${verifier.name} is for another use`)
  if (known.some((peer) => isSame(peer.verifier.publicKey, verifier.publicKey))) {
    throw new LogError(`the public key of ${verifier.name} is there twice`)
  }
  return { verifier, url }
}

function readGroup(policy: Policy, [name, count, ...members]: string[]): void {
  if (name === undefined || count === undefined || members.length === 0) {
    throw new LogError('the form is group NAME all|any|NUMBER MEMBER…')
  }
  assertNewName(policy, name)
  const threshold = count === 'all' ? members.length : count === 'any' ? 1 : Number(count)
  if (!/^(?:all|any|[1-9][0-9]*)$/.test(count) || threshold > members.length) {
    throw new LogError(`a group of ${members.length} cannot need ${count}`)
  }
  const taken = new Set([...policy.groups.values()].flatMap((group) => group.members))
  for (const member of members) {
    if (!isDefined(policy, member)) throw new LogError(`${member} is not defined above`)
    // A witness counts once, in one way.
    if (taken.has(member)) throw new LogError(`${member} is a member twice`)
    taken.add(member)
  }
  policy.groups.set(name, { threshold, members })
}

function readQuorum(policy: Policy, [name, ...others]: string[]): void {
  if (name === undefined || others.length > 0) throw new LogError('the form is quorum NAME')
  if (policy.quorum !== '') throw new LogError('there is a quorum line above')
  if (name !== 'none' && !isDefined(policy, name)) throw new LogError(`${name} is not defined above`)
  policy.quorum = name
}

const isDefined = ({ witnesses, groups }: Policy, name: string) =>
  groups.has(name) || witnesses.some((witness) => witness.name === name)

function assertNewName(policy: Policy, name: string): void {
  if (name === 'none' || isDefined(policy, name)) throw new LogError(`the name ${name} is taken`)
}

export interface Verdict {
  /** Whether the quorum cosigned. */
  isWitnessed: boolean
  /** The names of the policy's witnesses whose cosignature is right. */
  cosigners: string[]
}

/** Which of the policy's witnesses cosigned a note, and whether they suffice. Wrong cosignatures do not count. */
export function judge(note: Note, policy: Policy): Verdict {
  const cosigners = policy.witnesses.filter(({ verifier }) => hasCosigned(note, verifier)).map(({ name }) => name)
  const counts = (name: string): boolean => {
    const group = policy.groups.get(name)
    if (group === undefined) return cosigners.includes(name)
    return group.members.filter(counts).length >= group.threshold
  }
  return { isWitnessed: policy.quorum === 'none' || counts(policy.quorum), cosigners }
}

function hasCosigned(note: Note, verifier: Verifier): boolean {
  try {
    return cosignedAt(note, verifier) !== undefined
  } catch (err) {
    if (err instanceof LogError) return false
    throw err
  }
}
