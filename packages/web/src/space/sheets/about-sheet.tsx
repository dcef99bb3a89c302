import { useState } from 'preact/hooks'
import type { SpaceConfig } from '../config.ts'
import { accountStore, keepAccount } from '../identity/account.ts'
import { Icon } from '../components/icon.tsx'
import { LanguageChoice } from '../components/language-choice.tsx'
import { Sheet } from '../components/sheet.tsx'
import { memberName, memberNote } from '../components/members.ts'
import { SignInButton } from '../components/sign-in-button.tsx'
import { announce } from '../components/announcer.tsx'
import { failureWords } from '../api/failure-words.ts'
import { download, type Exported, exportPlain, exportSealed } from '../verification/export-room.ts'
import { Problem } from '../components/problem.tsx'
import type { ListedChannel } from '../room/listed-channel.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { GuestNameForm } from './guest-name-form.tsx'
import { KeepRoom } from './keep-room.tsx'
import { MoveRoom } from './move-room.tsx'
import { RemoveRoom } from './remove-room.tsx'
import { TitleForm } from './title-form.tsx'
import { useOwnership } from './use-ownership.ts'
import { t } from '../text/text.ts'

interface AboutSheetProps {
  session: RoomSession
  config: SpaceConfig | undefined
  onClose: () => void
}

export function AboutSheet({ session, config, onClose }: AboutSheetProps) {
  const owner = useOwnership(session)
  const hasMoved = useStore(session.state, ({ farewell }) => farewell !== undefined)
  return (
    <Sheet title={t.about.title} onClose={onClose}>
      {owner && <TitleForm session={session} as={owner} />}
      <You session={session} config={config} />
      <KeepRoom session={session} />
      {session.channel.leave && !hasMoved && <MoveRoom session={session} />}
      <Export session={session} />
      <section>
        <LanguageChoice />
      </section>
      {owner && <RemoveRoom session={session} as={owner} />}
    </Sheet>
  )
}

function You({ session, config }: { session: RoomSession; config: SpaceConfig | undefined }) {
  const account = useStore(accountStore, (value) => value.account)
  return (
    <section aria-labelledby="you">
      <h3 id="you">{t.about.you}</h3>
      {session.listed ? (
        <OwnMember session={session} config={config} listed={session.listed} />
      ) : session.secret.kind === 'client-sealed' ? (
        <>
          <p>{t.about.unchecked}</p>
          <GuestNameForm session={session} />
        </>
      ) : account ? (
        <>
          <p>{t.about.signedIn(<bdi>{account.email}</bdi>)}</p>
          <div class="buttons">
            <button class="button" type="button" onClick={() => keepAccount(undefined)}>
              {t.signIn.out}
            </button>
          </div>
        </>
      ) : (
        <>
          <p>{t.about.guest}</p>
          <GuestNameForm session={session} />
          <SignInButton config={config} />
        </>
      )}
    </section>
  )
}

/** This device in a room with a list. */
function OwnMember({
  session,
  config,
  listed,
}: {
  session: RoomSession
  config: SpaceConfig | undefined
  listed: ListedChannel
}) {
  const member = useStore(session.list, ({ members, own }) => members.find(({ key }) => key === own))
  const { room } = session.secret
  if (!member) return <p>{t.people.opening}</p>
  return (
    <>
      <p>
        <bdi class="name">{memberName(member)}</bdi>
      </p>
      <p>{memberNote(member)}</p>
      {!member.standing.ok && member.standing.reason === 'unsigned' && config?.identity && (
        <>
          <p class="hint">{t.sealed.list.showWho}</p>
          <SignInButton config={config} inRoom={{ room, nonce: listed.own.device.signing.thumbprint }} />
        </>
      )}
    </>
  )
}

function Export({ session }: { session: RoomSession }) {
  const [problem, setProblem] = useState<string>()
  const save = (make: Promise<Exported>, extension: string) => {
    setProblem(undefined)
    make.then(
      ({ blob, damage }) => {
        download(blob, `room-${session.secret.room.slice(0, 8)}.${extension}`)
        announce(t.about.saved)
        if (!damage) return
        const { title, text } = failureWords(damage)
        setProblem(t.titled(title, text))
      },
      () => setProblem(t.about.exportFailed),
    )
  }
  return (
    <section aria-labelledby="export">
      <h3 id="export">{t.about.export}</h3>
      <p>{t.about.exportHint}</p>
      <div class="buttons">
        <button class="button" type="button" onClick={() => save(exportPlain(session), 'json')}>
          <Icon name="download" />
          {t.about.messages}
        </button>
        <button class="button" type="button" onClick={() => save(exportSealed(session.secret), 'sealed.jsonl')}>
          <Icon name="download" />
          {t.about.sealed}
        </button>
      </div>
      <Problem text={problem} />
    </section>
  )
}
