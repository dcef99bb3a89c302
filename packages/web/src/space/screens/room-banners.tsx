import { useEffect, useRef, useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import type { SpaceConfig } from '../config.ts'
import { keepAccount } from '../identity/account.ts'
import { announce } from '../components/announcer.tsx'
import { Banner } from '../components/banner.tsx'
import { later } from '../components/later.tsx'
import { memberName } from '../components/members.ts'
import { PageBanners } from '../components/page-banners.tsx'
import { SignInButton } from '../components/sign-in-button.tsx'
import { fetchCertificate } from '../verification/certificate.ts'
import { pinKey } from '../verification/pin.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import type { SheetName } from './open-room.tsx'
import { t } from '../text/text.ts'

const WaitingBanner = later(async () => (await import('../sheets/listed-people.tsx')).WaitingBanner)

interface RoomBannersProps {
  session: RoomSession
  config: SpaceConfig | undefined
  onOpen: (sheet: SheetName) => void
}

/** Shows problems; usually nothing. */
export function RoomBanners({ session, config, onOpen }: RoomBannersProps) {
  const phase = useStore(session.state, (state) => state.phase)
  const policy = useStore(session.state, (state) => state.policy)
  const link = useStore(session.state, (state) => state.link)
  const failure = useStore(session.state, (state) => state.failure)
  const shrank = useStore(session.state, (state) => state.shrank)
  const unkept = useStore(session.state, (state) => state.unkept)
  const waiting = useStore(session.state, (state) => state.pending.length)
  const changedKey = useChangedKey()
  const linkBefore = useRef(link)
  useEffect(() => {
    if (linkBefore.current !== 'online' && link === 'online') announce(t.tools.spoken.connected)
    linkBefore.current = link
  }, [link])
  const members = useStore(session.list, (list) => list.members)
  const refused = useStore(session.list, (list) => list.refused)
  const hosted = members.filter(({ hostedAgent }) => hostedAgent !== undefined)
  return (
    <>
      <PageBanners />
      {hosted.length > 0 && (
        <Banner tone="quiet">
          {hosted.map((member) => (
            <p key={member.key}>{t.sealed.members.readsAlong(<bdi class="name">{memberName(member)}</bdi>)}</p>
          ))}
        </Banner>
      )}
      {session.listed && <WaitingBanner session={session} onPeople={() => onOpen('people')} />}
      {(changedKey || shrank) && (
        <Banner tone="warning">
          <p>
            {changedKey ? t.room.changedKey : t.room.shrank}{' '}
            <button class="link-button" type="button" onClick={() => onOpen('protection')}>
              {t.protection.title}
            </button>
          </p>
        </Banner>
      )}
      {failure !== undefined && (
        <Banner tone="warning">
          <p>
            <strong>{failureWords(failure).title}</strong>
          </p>
          <p>{failureWords(failure).text}</p>
          {phase !== 'tampered' && <SignInButton config={config} />}
          {phase !== 'tampered' && policy === 'open' && (
            <button class="link-button" type="button" onClick={() => keepAccount(undefined)}>
              {t.room.asGuest}
            </button>
          )}
        </Banner>
      )}
      {refused !== undefined && (
        <Banner tone="warning">
          <p>
            <strong>{failureWords(refused).title}</strong>
          </p>
          <p>{failureWords(refused).text}</p>
          <button class="link-button" type="button" onClick={() => onOpen('about')}>
            {t.about.title}
          </button>
        </Banner>
      )}
      {failure === undefined && link !== 'online' && (
        <Banner tone="quiet">
          <p>
            {t.room.link[link]} {waiting > 0 && t.room.kept}{' '}
            {link !== 'offline' && (
              <button class="link-button" type="button" onClick={() => session.retryNow()}>
                {t.room.tryNow}
              </button>
            )}
          </p>
        </Banner>
      )}
      {unkept && (
        <Banner tone="warning">
          <p>{t.room.unkept}</p>
        </Banner>
      )}
    </>
  )
}

/** Compares the service's key once with that of the last visit. If the check is not possible, there is no warning. */
function useChangedKey(): boolean {
  const [changed, setChanged] = useState(false)
  useEffect(() => {
    fetchCertificate().then(
      ({ thumbprint, isSigned }) => setChanged(isSigned && pinKey(thumbprint).kind === 'changed'),
      () => undefined,
    )
  }, [])
  return changed
}
