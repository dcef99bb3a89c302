import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { text as readAll } from 'node:stream/consumers'
import { LogError } from '@atrium/log/log-error'
import { parsePolicy } from '@atrium/log/policy'
import { endUnwritten } from '../end-unwritten.ts'
import { checkAttestation, readCertificate, SignedByAnotherKey, type VerifiedCertificate } from './certificate.ts'
import { readAppOfBundle } from './certified-app.ts'
import { checkClientSealedRoom } from './client-sealed-room.ts'
import { checkClientFile } from './client-file.ts'
import { Deadline, DeadlinePassed } from './deadline.ts'
import { Downloads, SMALL } from './download.ts'
import { checkPage } from './page.ts'
import { rebuild } from './rebuild.ts'
import { checkLog, type LogCheck } from './log.ts'
import { CheckFailed, quote, Report } from './report.ts'
import { checkRoom } from './room.ts'
import { checkSource } from './source.ts'
import { isPlainHttp, parseTarget, type Target } from './target.ts'

export interface VerifyOptions {
  /** RFC 7638 thumbprint that the certificate's key must have. */
  readonly pin?: string | undefined
  /** Build the source and compare the bytes. Runs the source's code, for about a minute. */
  readonly rebuild?: boolean | undefined
  /** Time limit in seconds for all checks together: an unfinished check fails. Default 60, with `rebuild` 900. */
  readonly timeout?: string | undefined
  /** A policy file (C2SP tlog-policy): the log's key, and the witnesses that must have cosigned it. */
  readonly logPolicy?: string | undefined
  /** A file that remembers the head of the log, so that the next check proves that the log continues it. */
  readonly logState?: string | undefined
  /** The app in one file, on this disk. */
  readonly client?: string | undefined
  readonly write?: (line: string) => void
}

/**
 * Checks a Space service from outside, and a room if the address is its link. Prints a line for each finding. With
 * `-` the address is read from standard input, so that a link's key is in no list of processes. Returns the exit
 * code: 0 if nothing failed, 1 if a check failed or did not end, 2 if the arguments are not valid.
 */
export async function verify(url: string, options: VerifyOptions = {}): Promise<number> {
  const write = options.write ?? ((line: string) => console.log(line))
  let target: Target
  let deadline: Deadline
  let log: LogCheck | undefined
  try {
    target = parseTarget(url === '-' ? await readAll(process.stdin) : url)
    if (options.pin !== undefined && !/^[A-Za-z0-9_-]{43}$/.test(options.pin)) {
      throw new TypeError('--pin must be the thumbprint of a key: 43 characters')
    }
    log = readLogCheck(options)
    deadline = new Deadline(parseTimeout(options))
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof LogError)) throw error
    write(`cannot begin: ${error.message}`)
    return 2
  }
  const report = new Report(write)
  // An immediate exit would leave the build, which has a process group of its own, and its folder. A second signal ends
  // the process.
  const stop = () => deadline.stop()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop)
  let unwritten: Error | undefined
  const stopUnwritten = (error: Error) => {
    unwritten = error
    stop()
  }
  process.stdout.on('error', stopUnwritten)
  try {
    await verifyTarget(report, target, { ...options, log }, deadline)
  } catch (error) {
    if (!(error instanceof DeadlinePassed)) throw error
    const { seconds, isStopped } = deadline
    const why = isStopped ? 'the checks: stopped' : `the time limit: exceeded after ${seconds} s (--timeout),`
    report.failed(`${why} during ${report.subject}; what is not listed above was not checked`)
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop)
    process.stdout.off('error', stopUnwritten)
  }
  if (unwritten) endUnwritten(unwritten)
  write(report.failures === 0 ? 'Nothing failed.' : `${report.failures} FAILED.`)
  return report.failures === 0 ? 0 : 1
}

function readLogCheck({ logPolicy, logState }: VerifyOptions): LogCheck | undefined {
  if (logPolicy === undefined && logState === undefined) return undefined
  if (logPolicy === undefined) throw new TypeError('--log-state needs --log-policy, which names the key of the log')
  let text: string
  try {
    text = readFileSync(logPolicy, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new TypeError(`--log-policy cannot be read: ${reason}`, { cause: error })
  }
  const policy = parsePolicy(text)
  if (policy.logs.length === 0) throw new TypeError('--log-policy must have a line with the key of the log: log VKEY')
  return { policy, state: logState }
}

const MAX_SECONDS = 86_400

function parseTimeout({ timeout, rebuild: isRebuild }: VerifyOptions): number {
  if (timeout === undefined) return isRebuild ? 900 : 60
  const seconds = /^\d{1,5}(?:\.\d{1,3})?$/.test(timeout) ? Number(timeout) : 0
  if (seconds <= 0 || seconds > MAX_SECONDS) throw new TypeError(`--timeout must be a number of seconds, up to ${MAX_SECONDS}`)
  return seconds
}

async function verifyTarget(
  report: Report,
  { origin, secret, clientSealed }: Target,
  { pin, rebuild: isRebuild, log, client }: VerifyOptions & { log: LogCheck | undefined },
  deadline: Deadline,
): Promise<void> {
  const downloads = new Downloads(origin, deadline)
  if (isPlainHttp(origin))
    report.notChecked('who answers: the connection is plain http, which anyone on the network path can alter')
  const certificate = await checkCertificate(report, downloads, pin)
  if (!certificate) report.notChecked('source, code and attest: there is no certificate to compare them with')
  const bundle = certificate && (await checkCode(report, downloads, certificate, isRebuild ? deadline : undefined))
  const certified = bundle && (await report.check('the app in the certified code', () => readAppOfBundle(bundle)))
  await checkPage(report, downloads, certified)
  if (client !== undefined && certificate) await checkClientFile(report, downloads, certificate, client)
  if (!log) report.notChecked('that the transparency log has this certificate and this page (--log-policy does)')
  else if (certificate) await checkLog(report, downloads, certificate, log, deadline)
  if (secret) await checkRoom(report, downloads, secret, deadline)
  if (clientSealed) await checkClientSealedRoom(report, downloads, clientSealed, deadline)
}

async function checkCertificate(
  report: Report,
  downloads: Downloads,
  pin: string | undefined,
): Promise<VerifiedCertificate | undefined> {
  return report.check('the certificate', async () => {
    const certificate = readCertificate(await downloads.getJson('/cert.json', SMALL))
    const { thumbprint } = certificate.key
    report.proved(`the certificate of ${quote(certificate.service)} is signed (ES256) by the key ${thumbprint}`)
    if (pin === undefined) {
      report.notChecked(`whose key that is: compare ${thumbprint} with what the operator publishes elsewhere, then use --pin`)
    } else if (pin === thumbprint) report.proved('that key is the one you pinned')
    else
      report.failed(
        `the pin: the certificate is signed by ${thumbprint}, not by the key that you pinned. An operator who changes the ` +
          'key announces the new one, signed by the old one (docs/verification.md, "When a key has changed"). Without ' +
          'such an announcement, do not use the service',
      )
    return certificate
  })
}

/** Rebuilds the source if a time limit is given. */
async function checkCode(
  report: Report,
  downloads: Downloads,
  certificate: VerifiedCertificate,
  deadline: Deadline | undefined,
): Promise<Buffer | undefined> {
  const source = await checkSource(report, downloads, certificate)
  const { gitCommit, egress } = certificate
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(gitCommit)) {
    report.notChecked(`which commit it is: it was built from files that are in no commit (${quote(gitCommit)})`)
  } else report.notChecked(`that commit ${gitCommit} is in the public repository: look there`)
  let bundle: Buffer | undefined
  if (!deadline) report.notChecked('that this source makes the certified code (--rebuild does)')
  else if (source) bundle = await rebuild(report, source, certificate, deadline)
  else report.notChecked('that the source makes the certified code: there is no source to build')
  await checkAttest(report, downloads, certificate)
  report.trusted('that the process which answers runs the certified code: no answer over a network can prove it')
  report.trusted(`that this code, as its source reads, connects only to: ${egress.join(', ') || 'nothing'}`)
  return bundle
}

async function checkAttest(report: Report, downloads: Downloads, certificate: VerifiedCertificate): Promise<void> {
  await report.check('attest', async () => {
    const nonce = randomBytes(24).toString('base64url')
    const answer = await downloads.getJson('/space', SMALL, { op: 'attest', nonce })
    const runtime = await explainOtherKey(downloads, certificate, (signer) => checkAttestation(answer, signer, nonce))
    report.proved(`the service that answers holds the certificate's key now, and names the same commit (${quote(runtime)})`)
  })
}

/** Requests for the certificate, to reach a process that has another key, as while a key is replaced. */
const maxAsked = 5

/** If the certificate's key did not sign, says whether that of another certificate did, which the service also shows. */
async function explainOtherKey<Value>(
  downloads: Downloads,
  certificate: VerifiedCertificate,
  check: (signer: VerifiedCertificate) => Value,
): Promise<Value> {
  try {
    return check(certificate)
  } catch (error) {
    if (!(error instanceof SignedByAnotherKey)) throw error
  }
  for (let asked = 0; asked < maxAsked; asked++) {
    let other: VerifiedCertificate
    try {
      other = readCertificate(await downloads.getJson('/cert.json', SMALL))
      if (other.key.thumbprint === certificate.key.thumbprint) continue
      check(other)
    } catch (error) {
      // This one explains nothing. If none does, what the first check has found is reported.
      if (error instanceof CheckFailed) continue
      throw error
    }
    throw new SignedByAnotherKey(
      ` but by ${other.key.thumbprint}, of which the service also shows a certificate: its processes have different keys, ` +
        'as while a key is replaced. Try again when all of them have been restarted',
    )
  }
  throw new SignedByAnotherKey()
}
