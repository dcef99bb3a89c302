import { useEffect, useState } from 'preact/hooks'
import { InvitationUsedError } from '@atrium/room-client/listed-types'
import { failureWords } from '../api/failure-words.ts'
import type { SpaceConfig } from '../config.ts'
import { ownDevice } from '../identity/room-device.ts'
import { findRoomToken } from '../identity/room-token.ts'
import { cleanName } from '../components/authors.ts'
import { OwnNameField } from '../components/own-name-field.tsx'
import { parseAddresses } from '../components/parse-addresses.ts'
import { SignInButton } from '../components/sign-in-button.tsx'
import { useIsShown } from '../components/use-is-shown.ts'
import { Problem } from '../components/problem.tsx'
import { answer, type FoundInvitation, readInvitation } from '../room/invitation.ts'
import { hashOf, homeHref } from '../service.ts'
import { t } from '../text/text.ts'
import { Notice } from './notice.tsx'

interface InvitationScreenProps {
  invitation: string
  config: SpaceConfig | undefined
}

/** An invitation to a room with a list, which this device answers. The owner then lets it in. */
export function InvitationScreen({ invitation, config }: InvitationScreenProps) {
  const words = t.sealed.invitation
  const [found, setFound] = useState<FoundInvitation>()
  const [failure, setFailure] = useState<unknown>()
  const isShown = useIsShown()
  useEffect(() => {
    readInvitation(invitation).then((read) => {
      if (read.state !== 'own') setFound(read)
      else if (isShown()) location.replace(hashOf(read.link))
    }, setFailure)
  }, [invitation])
  if (failure !== undefined) {
    return (
      <Notice title={failureWords(failure).title}>
        <p>{failureWords(failure).text}</p>
        <button class="button" type="button" onClick={() => location.reload()}>
          {t.tryAgain}
        </button>
      </Notice>
    )
  }
  if (!found || !config) {
    return (
      <main class="opening" aria-busy="true">
        <h1 class="visually-hidden">Space</h1>
        <p role="status">{t.room.opening.online}</p>
      </main>
    )
  }
  if (found.state !== 'open') {
    return (
      <Notice title={words.used}>
        <p>{words.usedHint}</p>
        <p>
          <a class="button" href={homeHref()}>
            {t.start.makeOwn}
          </a>
        </p>
      </Notice>
    )
  }
  return (
    <Notice title={words.title}>
      <p>{words.isFor(<bdi>{found.invitedAs}</bdi>)}</p>
      {!found.isKept && <p class="problem">{words.unkept}</p>}
      <Answer invitation={invitation} invitedAs={found.invitedAs} config={config} onUsed={() => setFound({ state: 'used' })} />
    </Notice>
  )
}

interface AnswerProps {
  invitation: string
  invitedAs: string
  config: SpaceConfig
  onUsed: () => void
}

function Answer({ invitation, invitedAs, config, onUsed }: AnswerProps) {
  const words = t.sealed.invitation
  const room = invitation.slice(0, invitation.indexOf('~'))
  const account = findRoomToken(room)
  const [nonce, setNonce] = useState<string>()
  const [name, setName] = useState(account?.name ?? '')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const isShown = useIsShown()
  useEffect(() => void ownDevice(room).then(({ device }) => setNonce(device.signing.thumbprint)), [room])
  // The owner believes an address only by a sign-in. A name, such as "Grace, by telephone", needs none.
  const isAddress = parseAddresses(invitedAs).wrong.length === 0
  const needsSignIn = isAddress && config.identity !== null && !account
  const send = async () => {
    setBusy(true)
    setProblem(undefined)
    try {
      const hash = hashOf(await answer(invitation, cleanName(name) || undefined))
      if (isShown()) location.replace(hash)
    } catch (error) {
      if (error instanceof InvitationUsedError) return onUsed()
      const { title, text } = failureWords(error)
      setProblem(t.titled(title, text))
      setBusy(false)
    }
  }
  if (needsSignIn) {
    return (
      <>
        <p>{words.signInHint}</p>
        {nonce !== undefined && <SignInButton config={config} primary inRoom={{ room, nonce }} />}
      </>
    )
  }
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy) void send()
      }}
    >
      {account && <p>{words.signedIn(<bdi>{account.email}</bdi>)}</p>}
      <OwnNameField value={name} onChange={setName} />
      <p class="hint">{words.next}</p>
      <div class="buttons">
        <button class="button primary" type="submit" aria-disabled={busy}>
          {busy ? words.answering : words.answer}
        </button>
      </div>
      <Problem text={problem} />
    </form>
  )
}
