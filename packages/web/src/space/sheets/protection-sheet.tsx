import { useEffect, useState } from 'preact/hooks'
import { ArchMark } from '../components/arch.tsx'
import { Icon, type IconName } from '../components/icon.tsx'
import { Sheet } from '../components/sheet.tsx'
import { announce } from '../components/announcer.tsx'
import { believed, type Check, type Verdict } from '../verification/check.ts'
import { checkBuild } from '../verification/check-build.ts'
import { checkRoom } from '../verification/check-room.ts'
import { acceptKey, type Pin } from '../verification/pin.ts'
import type { RoomSession } from '../room/room-session.ts'
import { getServiceOrigin } from '../service.ts'
import { useStore } from '../use-store.ts'
import { t } from '../text/text.ts'

interface Results {
  readonly room: readonly Check[]
  readonly build: readonly Check[]
  readonly pin: Pin | undefined
  readonly busy: boolean
}

const NOTHING: Results = { room: [], build: [], pin: undefined, busy: true }

interface ProtectionSheetProps {
  session: RoomSession
  /** Where the verifier is to be had. */
  apiUrl: string | undefined
  onClose: () => void
}

/** Runs the checks in this browser and shows for each what is proved and what must be trusted. */
export function ProtectionSheet({ session, apiUrl, onClose }: ProtectionSheetProps) {
  const [results, setResults] = useState(NOTHING)
  const run = async () => {
    setResults(NOTHING)
    const add = (group: 'room' | 'build') => (check: Check) => setResults((old) => ({ ...old, [group]: [...old[group], check] }))
    const { heads, state } = session
    const entries = state.value.chunks.flatMap((chunk) => chunk.entries)
    await Promise.all([
      checkRoom(session, { heads, entries }, add('room')).catch(() =>
        add('room')(unknown('room', t.protection.roomUnreachable, t.protection.roomUnchecked)),
      ),
      checkBuild(add('build'), apiUrl, (pin) => setResults((old) => ({ ...old, pin }))).catch(() =>
        add('build')(unknown('build', t.protection.certificateUnreachable, t.protection.certificateUnchecked)),
      ),
    ])
    setResults((old) => ({ ...old, busy: false }))
  }
  useEffect(() => void run(), [])
  const chunks = useStore(session.state, (state) => state.chunks)
  const hasAgents = chunks.some(({ entries }) => entries.some(({ author }) => author.kind === 'agent'))
  const trusted = believed({ kind: session.secret.kind, hasAgents })
  const all = [...results.room, ...results.build, ...trusted]
  const summary = summaryOf(all, results.busy)
  useEffect(() => {
    if (!results.busy) announce(summary.title)
  }, [results.busy])
  return (
    <Sheet title={t.protection.title} onClose={onClose} docks>
      <div class={`summary ${summary.verdict}`}>
        <ArchMark />
        <div>
          <p class="summary-title">{summary.title}</p>
          <p class="hint">{summary.text}</p>
        </div>
      </div>
      <CheckGroup title={t.protection.stored} checks={results.room} />
      <CheckGroup title={t.protection.storedBy} checks={results.build}>
        {results.pin?.kind === 'changed' && <AcceptKey pin={results.pin} onDone={run} />}
      </CheckGroup>
      <CheckGroup title={t.protection.trusted} checks={trusted}>
        {session.secret.kind === 'client-sealed' && <p class="hint">{t.protection.kinds}</p>}
        {session.secret.kind === 'listed' && <p class="hint">{t.sealed.list.kinds}</p>}
      </CheckGroup>
      <FromOutside apiUrl={apiUrl} />
      <div class="buttons">
        <button class="button" type="button" aria-disabled={results.busy} onClick={() => results.busy || void run()}>
          {results.busy ? t.protection.checking : t.protection.checkAgain}
        </button>
      </div>
    </Sheet>
  )
}

function unknown(id: string, title: string, unchecked: string): Check {
  return { id, verdict: 'unknown', title, text: `${unchecked} ${t.protection.perhapsOffline}` }
}

function summaryOf(checks: readonly Check[], busy: boolean) {
  const count = (verdict: Verdict) => checks.filter((check) => check.verdict === verdict).length
  const [proved, trusted, failed, open] = [count('proved'), count('trusted'), count('failed'), count('unknown')]
  if (failed > 0) {
    return { verdict: 'failed', title: t.protection.failedTitle(failed), text: t.protection.failed }
  }
  if (busy) return { verdict: 'busy', title: t.protection.checking, text: t.protection.busy }
  if (open > 0) return { verdict: 'unknown', title: t.protection.openTitle, text: t.protection.open(proved, trusted, open) }
  return { verdict: 'proved', title: t.protection.provedTitle(proved, trusted), text: t.protection.proved }
}

const SIGNS: Readonly<Record<Verdict, IconName>> = { proved: 'check', trusted: 'said', failed: 'cross', unknown: 'question' }

function CheckGroup({
  title,
  checks,
  children,
}: {
  title: string
  checks: readonly Check[]
  children?: preact.ComponentChildren
}) {
  return (
    <section class="checks">
      <h3>{title}</h3>
      <ul>
        {checks.map(({ id, verdict, title, text }) => (
          <li key={id} class={`check ${verdict}`} data-check={id}>
            <span class="sign">
              <Icon name={SIGNS[verdict]} />
            </span>
            <div>
              <p class="check-title">{title}</p>
              <p class="hint">{t.protection.found(<span class="verdict">{t.protection.verdicts[verdict]}</span>, text)}</p>
            </div>
          </li>
        ))}
      </ul>
      {checks.length === 0 && <p class="hint">{t.protection.checking}</p>}
      {children}
    </section>
  )
}

function AcceptKey({ pin, onDone }: { pin: Pin; onDone: () => Promise<void> }) {
  const accept = () => {
    acceptKey(pin.thumbprint)
    void onDone()
  }
  return (
    <div class="buttons">
      <button class="button" type="button" onClick={accept}>
        {t.protection.acceptKey}
      </button>
    </div>
  )
}

function FromOutside({ apiUrl }: { apiUrl: string | undefined }) {
  return (
    <section class="checks">
      <h3>{t.protection.outside}</h3>
      <p class="hint">{t.protection.outsideHint}</p>
      <pre class="command" dir="ltr" tabIndex={0} aria-label={t.protection.command}>
        <code>node atrium-verify.mjs {getServiceOrigin()} --rebuild</code>
      </pre>
      {apiUrl && (
        <p class="hint">
          {t.protection.program((words) => (
            <a class="link-button" href={`${apiUrl}/downloads`} target="_blank" rel="noopener noreferrer">
              {words}
            </a>
          ))}
        </p>
      )}
    </section>
  )
}
