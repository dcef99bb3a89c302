import { useEffect, useState } from 'preact/hooks'
import { ArchMark } from '../parts/arch.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Sheet } from '../parts/sheet.tsx'
import { announce } from '../parts/announcer.tsx'
import { BELIEVED, BELIEVED_OF_AGENTS, type Check, type Verdict } from '../protect/check.ts'
import { checkBuild } from '../protect/check-build.ts'
import { checkRoom } from '../protect/check-room.ts'
import { acceptKey, type Pin } from '../protect/pin.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'

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
      checkRoom(session.secret, { heads, entries }, add('room')).catch(() =>
        add('room')(unknown('room', 'The stored bytes could not be fetched')),
      ),
      checkBuild(add('build'), (pin) => setResults((old) => ({ ...old, pin }))).catch(() =>
        add('build')(unknown('build', 'The service’s certificate could not be fetched')),
      ),
    ])
    setResults((old) => ({ ...old, busy: false }))
  }
  useEffect(() => void run(), [])
  const chunks = useStore(session.state, (state) => state.chunks)
  const hasAgents = chunks.some(({ entries }) => entries.some(({ author }) => author.kind === 'agent'))
  const believed = hasAgents ? [...BELIEVED, BELIEVED_OF_AGENTS] : BELIEVED
  const all = [...results.room, ...results.build, ...believed]
  const summary = summaryOf(all, results.busy)
  useEffect(() => {
    if (!results.busy) announce(summary.title)
  }, [results.busy])
  return (
    <Sheet title="What protects this room" onClose={onClose}>
      <div class={`summary ${summary.verdict}`}>
        <ArchMark />
        <div>
          <p class="summary-title">{summary.title}</p>
          <p class="hint">{summary.text}</p>
        </div>
      </div>
      <CheckGroup title="What is stored" checks={results.room} />
      <CheckGroup title="Who stores it" checks={results.build}>
        {results.pin?.kind === 'changed' && <AcceptKey pin={results.pin} onDone={run} />}
      </CheckGroup>
      <CheckGroup title="What you trust" checks={believed} />
      <FromOutside apiUrl={apiUrl} />
      <div class="buttons">
        <button class="button" type="button" aria-disabled={results.busy} onClick={() => results.busy || void run()}>
          {results.busy ? 'Checking…' : 'Check again'}
        </button>
      </div>
    </Sheet>
  )
}

function unknown(id: string, title: string): Check {
  return { id, verdict: 'unknown', title, text: 'Perhaps you are offline. Check again in a moment.' }
}

function summaryOf(checks: readonly Check[], busy: boolean) {
  const count = (verdict: Verdict) => checks.filter((check) => check.verdict === verdict).length
  const [proved, trusted, failed, open] = [count('proved'), count('trusted'), count('failed'), count('unknown')]
  if (failed > 0) {
    const title = failed === 1 ? 'One check failed' : `${failed} checks failed`
    return {
      verdict: 'failed',
      title,
      text: 'Something is not as it should be. Read below what, and write nothing here that matters until it is cleared up.',
    }
  }
  if (busy) return { verdict: 'busy', title: 'Checking…', text: 'Your browser does this by itself, here and now.' }
  if (open > 0)
    return {
      verdict: 'unknown',
      title: 'Not everything could be checked',
      text: `${proved} shown, ${trusted} to be trusted, ${open} open.`,
    }
  return {
    verdict: 'proved',
    title: `${proved} things shown, ${trusted} to be trusted`,
    text: 'Checked by your browser, here and now. Nothing failed.',
  }
}

const SIGNS: Readonly<Record<Verdict, { icon: IconName; word: string }>> = {
  proved: { icon: 'check', word: 'Proved' },
  trusted: { icon: 'said', word: 'Trusted' },
  failed: { icon: 'cross', word: 'Failed' },
  unknown: { icon: 'question', word: 'Not checked' },
}

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
              <Icon name={SIGNS[verdict].icon} />
            </span>
            <div>
              <p class="check-title">{title}</p>
              <p class="hint">
                <span class="verdict">{SIGNS[verdict].word}.</span> {text}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {checks.length === 0 && <p class="hint">Checking…</p>}
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
        I know why: expect this key from now on
      </button>
    </div>
  )
}

function FromOutside({ apiUrl }: { apiUrl: string | undefined }) {
  return (
    <section class="checks">
      <h3>From outside</h3>
      <p class="hint">The same checks, by a program of your own, with the page’s scripts and a rebuild of the source besides:</p>
      <pre class="command" tabIndex={0} aria-label="Command">
        <code>node atrium-verify.mjs {location.origin} --rebuild</code>
      </pre>
      {apiUrl && (
        <p class="hint">
          The program is one file, with its hash among the{' '}
          <a href={`${apiUrl}/downloads`} target="_blank" rel="noopener noreferrer">
            downloads
          </a>
          . Compare the hash with one from somebody you trust.
        </p>
      )}
    </section>
  )
}
