import { useLayoutEffect, useState } from 'preact/hooks'
import { SpaceCallError } from '@atrium/room-client/space-call-error'
import type { Entry } from '@atrium/room-client/space-ops'
import { failureWords } from '../api/failure-words.ts'
import type { SpaceConfig } from '../config.ts'
import { accountStore, keepAccount } from '../identity/account.ts'
import { announce } from '../components/announcer.tsx'
import { authorId, authorName, spokenName } from '../components/authors.ts'
import { MarkdownText } from '../messages/message-text.tsx'
import { later } from '../components/later.tsx'
import { SignInButton } from '../components/sign-in-button.tsx'
import { RoomSession } from '../room/room-session.ts'
import type { RoomLink } from '../room-link.ts'
import { useStore } from '../use-store.ts'
import { Notice } from './notice.tsx'
import { OpenRoom } from './open-room.tsx'
import { AfterRestore, readAnew } from './tampered-box.tsx'
import { homeHref } from '../service.ts'
import { t } from '../text/text.ts'

const SecondDevice = later(async () => (await import('./second-device.tsx')).SecondDevice)

interface RoomScreenProps {
  secret: RoomLink
  config: SpaceConfig | undefined
}

export function RoomScreen({ secret, config }: RoomScreenProps) {
  const [session, setSession] = useState<RoomSession>()
  // A visit ends as soon as its screen is gone. The end of any other effect waits for the next frame, and what the visitor has
  // left would go on until then.
  useLayoutEffect(() => {
    void MarkdownText.fetch()
    let left = false
    const opening = RoomSession.open(secret, (entries, opened) => void sayNews(entries, opened))
    void opening.then((opened) => (left ? opened.stop() : setSession(opened)))
    return () => {
      left = true
      void opening.then((opened) => opened.stop())
    }
  }, [])
  return session ? <Phase session={session} config={config} /> : <Opening link="online" opened={0} />
}

function Phase({ session, config }: { session: RoomSession; config: SpaceConfig | undefined }) {
  const phase = useStore(session.state, (state) => state.phase)
  const failure = useStore(session.state, (state) => state.failure)
  const link = useStore(session.state, (state) => state.link)
  const opened = useStore(session.state, (state) => state.opened)
  const hasMessages = useStore(session.state, (state) => state.chunks.length > 0)
  const account = useStore(accountStore, (value) => value.account)
  // What was read before a history was found to be altered stays.
  if (phase === 'open' || (phase === 'tampered' && hasMessages)) return <OpenRoom session={session} config={config} />
  if (phase === 'opening') return <Opening link={link} opened={opened} />
  if (phase === 'removed') {
    return (
      <Notice title={t.room.removedTitle}>
        <p>{t.room.removed}</p>
        <StartOver />
      </Notice>
    )
  }
  const { title, text, remedy } = failureWords(failure, account?.email)
  return (
    <Notice title={title}>
      <p>{text}</p>
      {remedy === 'sign-in' ? <SignInButton config={config} primary /> : <StartOver />}
      {isWaiting(failure) && <SecondDevice link={session.secret} />}
      {phase === 'tampered' && (
        <>
          <AfterRestore session={session} />
          <button class="link-button" type="button" onClick={() => void readAnew(session)}>
            {t.failures.tampered.again}
          </button>
        </>
      )}
      {remedy === 'sign-in' && account && (
        <button class="link-button" type="button" onClick={() => keepAccount(undefined)}>
          {t.signIn.out}
        </button>
      )}
    </Notice>
  )
}

/** A device that has never been on the list. */
function isWaiting(failure: unknown): boolean {
  return failure instanceof SpaceCallError && failure.reason === 'device_waiting'
}

function StartOver() {
  return (
    <p>
      <a class="button" href={homeHref()}>
        {t.start.makeOwn}
      </a>
    </p>
  )
}

function Opening({ link, opened }: { link: 'online' | 'offline' | 'away' | 'troubled'; opened: number }) {
  return (
    <main class="opening" aria-busy="true">
      <h1 class="visually-hidden">Space</h1>
      <p role="status">{link === 'online' && opened > 0 ? t.room.progress(opened) : t.room.opening[link]}</p>
    </main>
  )
}

/** Announces messages of others; of the visitor's own messages it only announces that they were sent. */
async function sayNews(entries: readonly Entry[], session: RoomSession): Promise<void> {
  const others = entries.filter((entry) => !session.sender.own.has(entry))
  const [first] = others
  if (!first) return announce(t.tools.spoken.sent)
  if (others.length > 2) return announce(t.room.newMessages(others.length))
  const words = (await Promise.all(others.map((entry) => spokenEntry(entry, session)))).reduce(t.titled)
  announce(words.slice(0, 400))
}

async function spokenEntry(entry: Entry, session: RoomSession): Promise<string> {
  const { author, message } = entry
  const { byId } = session.reader
  const retracted = session.state.value.retracted.get(entry.id)
  if (retracted === 'notice' || retracted === 'unloaded') return t.tools.messages.spoken(spokenName(author))
  const text = author.kind === 'agent' ? await plainText(message.text) : message.text
  const isFirst = ![...byId.values()].some(({ seq, author: other }) => seq < entry.seq && authorId(other) === authorId(author))
  const words = t.room.spoken(spokenName(author), text)
  return isFirst ? t.titled(t.tools.spoken.firstMessage(authorName(author)), words) : words
}

/** Without the marks of Markdown, if the code that knows them can be fetched. */
async function plainText(text: string): Promise<string> {
  const markdown = await import('../components/parse-markdown.ts').catch(() => undefined)
  return markdown ? markdown.plainTextOf(markdown.parseMarkdown(text)) : text
}
