import { appPageEntry, filesNamedIn } from '@atrium/log/app-page'
import {
  assertContinues,
  certificateEntry,
  epochEntry,
  proveEntry,
  readHead,
  type GetFile,
  type SeenTree,
} from '@atrium/log/check-log'
import type { OpenedCheckpoint } from '@atrium/log/checkpoint'
import { LogError } from '@atrium/log/log-error'
import { judge, type Policy } from '@atrium/log/policy'
import { readOfferedEpochs } from '@atrium/log/read-epochs'
import { isJsonObject } from '@atrium/contract/strict-json'
import { readIfThere, replaceFile } from '../log/state-file.ts'
import type { VerifiedCertificate } from './certificate.ts'
import type { Deadline } from './deadline.ts'
import { Downloads, PAGE, PAGE_FILE, SMALL } from './download.ts'
import { CheckFailed, type Report } from './report.ts'

export interface LogCheck {
  /** Whose log it is, and which witnesses must have cosigned it. */
  readonly policy: Policy
  /** The file with the checkpoint that this machine saw last. */
  readonly state: string | undefined
}

/** 200,000 epochs. The time limit of all checks ends the reading of a slow list. */
const maxEpochPages = 1_000

/**
 * Checks that what the service shows here is what its transparency log has: the certificate, the page with its files,
 * and the epochs that are offered; that the log continues what this machine saw before; and who cosigned it.
 */
export async function checkLog(
  report: Report,
  service: Downloads,
  certificate: VerifiedCertificate,
  { policy, state }: LogCheck,
  deadline: Deadline,
): Promise<void> {
  const api = await report.check('the address of the log', async () => {
    const { api_url: url } = await service.getJson('/space-config', SMALL)
    if (typeof url !== 'string' || !URL.canParse(url)) throw new CheckFailed('/space-config does not name the API')
    return new Downloads(new URL(url).origin, deadline)
  })
  if (!api) return
  const keys = policy.logs.map(({ verifier }) => verifier)
  const getFile: GetFile = async (path) => (await api.get(path, SMALL)).bytes
  // Before the head: the state that another check writes later may have a newer one.
  const before = await report.check('the history of the log', async () => ({ text: state && (await readIfThere(state)) }))
  if (!before) return
  const head = await report.check('the transparency log', () => explained(() => readHead(getFile, keys)))
  if (!head) return
  checkWitnesses(report, head, policy)
  const isContinued = await report.check('the history of the log', () => checkHistory(report, getFile, head, state, before.text))
  if (!isContinued) return
  let latest = head
  const prove = async (entry: object) => {
    const newer = await explained(() => proveEntry(getFile, entry, latest, keys))
    // What others see ends with the head that they have cosigned.
    if (newer.size > latest.size && !judge(newer.note, policy).isWitnessed)
      throw new CheckFailed('it is proved by a newer head that is not witnessed; if the head is new, try again in a minute')
    latest = newer
  }
  await report.check('the certificate in the log', async () => {
    await prove(certificateEntry(await service.getJson('/cert.json', SMALL)))
    report.proved('the certificate is in the log')
  })
  await report.check('the page in the log', async () => {
    await prove(await readPage(service, certificate.functionCodeSha256))
    report.proved('the page, with the files that it names, is in the log with the certified code')
  })
  await report.check('the epochs in the log', () => checkEpochs(report, api, prove))
}

/** Turns what is wrong with a log's files into a finding. */
async function explained<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof LogError ? new CheckFailed(error.message) : error
  }
}

function checkWitnesses(report: Report, { origin, size, note }: OpenedCheckpoint, policy: Policy): void {
  const { isWitnessed, cosigners } = judge(note, policy)
  const what = `the head of ${origin} with ${size} entries`
  if (!isWitnessed)
    report.failed(`${what} is not witnessed: the policy needs more cosignatures than ${cosigners.join(', ') || 'none'}`)
  else if (cosigners.length > 0) report.proved(`${what} is cosigned by ${cosigners.join(', ')}`)
  else report.notChecked(`${what} is not witnessed: others may be shown another log (name witnesses in the policy)`)
}

/** Returns true if the log may be believed further. `last`: the content of the state from before the head was read. */
async function checkHistory(
  report: Report,
  getFile: GetFile,
  head: OpenedCheckpoint,
  state: string | undefined,
  last: string | undefined,
): Promise<true> {
  if (state === undefined) {
    report.notChecked('that the log continues what this machine saw before (--log-state FILE remembers it)')
    return true
  }
  if (last !== undefined) {
    const seen = readSeen(last, head.origin)
    await explained(() => assertContinues(getFile, seen, head))
    report.proved(`the log continues the ${seen.size} entries that this machine saw before`)
  } else report.notChecked('that the log continues what this machine saw before: this is the first time')
  const now = await readIfThere(state)
  if (now !== undefined && now !== last) {
    // Another check has written it meanwhile. Of the two heads, the newer one stays.
    const other = readSeen(now, head.origin)
    const [older, newer] = other.size < head.size ? [other, head] : [head, other]
    await explained(() => assertContinues(getFile, older, newer))
    if (newer === other) return true
  }
  await replaceFile(
    state,
    `${JSON.stringify({ origin: head.origin, size: head.size, root: Buffer.from(head.root).toString('hex') })}\n`,
  )
  return true
}

function readSeen(text: string, origin: string): SeenTree {
  const seen: unknown = JSON.parse(text)
  if (!isJsonObject(seen) || !Number.isSafeInteger(seen['size']) || typeof seen['root'] !== 'string')
    throw new CheckFailed('the file of --log-state is damaged')
  if (seen['origin'] !== origin) throw new CheckFailed(`the file of --log-state is of another log, ${String(seen['origin'])}`)
  return { size: Number(seen['size']), root: Buffer.from(seen['root'], 'hex') }
}

async function readPage(service: Downloads, code: string) {
  const { bytes: page } = await service.get('/space', PAGE)
  const files = new Map<string, Uint8Array>()
  for (const path of filesNamedIn(page)) files.set(path, (await service.get(path, PAGE_FILE)).bytes)
  return appPageEntry({ page, files, code })
}

async function checkEpochs(report: Report, api: Downloads, prove: (entry: object) => Promise<void>): Promise<void> {
  const { compared, older, unread } = await readOfferedEpochs((path) => api.getJson(path, PAGE), {
    maxPages: maxEpochPages,
  })
  for (const epoch of compared) {
    try {
      await prove(epochEntry(epoch))
    } catch (error) {
      throw error instanceof CheckFailed
        ? new CheckFailed(`epoch ${String(epoch['epoch'])} is not as it was logged: ${error.message}`)
        : error
    }
  }
  if (unread) throw new CheckFailed(`${unread.message}; what comes after it was not compared`)
  report.proved(`the epochs that are offered are the logged ones (${compared.length})`)
  if (older > 0) report.notChecked(`${older} older epochs`)
}
