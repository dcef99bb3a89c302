import type { RoomSecret } from '@atrium/sealing/room-secret'
import { useEffect, useState } from 'preact/hooks'
import type { Entry } from '@atrium/room-client/space-ops'
import { failureWords } from '../api/failure-words.ts'
import type { SpaceConfig } from '../config.ts'
import { accountStore, keepAccount } from '../identity/account.ts'
import { announce } from '../parts/announcer.tsx'
import { spokenName } from '../parts/authors.ts'
import { SignInButton } from '../parts/sign-in-button.tsx'
import { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { Notice } from './notice.tsx'
import { OpenRoom } from './open-room.tsx'
import { t } from '../text/text.ts'

interface RoomScreenProps {
  secret: RoomSecret
  config: SpaceConfig | undefined
}

export function RoomScreen({ secret, config }: RoomScreenProps) {
  const [session, setSession] = useState<RoomSession>()
  useEffect(() => {
    let left = false
    const opening = RoomSession.open(secret, sayNews)
    void opening.then((opened) => (left ? opened.stop() : setSession(opened)))
    return () => {
      left = true
      void opening.then((opened) => opened.stop())
    }
  }, [])
  return session ? <Phase session={session} config={config} /> : <Opening link="online" />
}

function Phase({ session, config }: { session: RoomSession; config: SpaceConfig | undefined }) {
  const phase = useStore(session.state, (state) => state.phase)
  const failure = useStore(session.state, (state) => state.failure)
  const link = useStore(session.state, (state) => state.link)
  const account = useStore(accountStore, (value) => value.account)
  if (phase === 'open') return <OpenRoom session={session} config={config} />
  if (phase === 'opening') return <Opening link={link} />
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
      {remedy === 'sign-in' && account && (
        <button class="link-button" type="button" onClick={() => keepAccount(undefined)}>
          {t.signIn.out}
        </button>
      )}
    </Notice>
  )
}

function StartOver() {
  return (
    <p>
      <a class="button" href="/space">
        {t.start.makeOwn}
      </a>
    </p>
  )
}

function Opening({ link }: { link: 'online' | 'offline' | 'away' | 'troubled' }) {
  return (
    <main class="opening" aria-busy="true">
      <h1 class="unseen">Space</h1>
      <p role="status">{t.room.opening[link]}</p>
    </main>
  )
}

function sayNews(entries: readonly Entry[]): void {
  const [first] = entries
  if (!first) return
  const words =
    entries.length > 2
      ? t.room.newMessages(entries.length)
      : entries.map(({ author, message }) => t.room.spoken(spokenName(author), message.text)).reduce(t.titled)
  announce(words.slice(0, 400))
}
