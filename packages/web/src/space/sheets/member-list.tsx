import type { AdmittedAgent, Member, PolicyRecord } from '@atrium/sealing/records'
import { useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import { accountStore } from '../identity/account.ts'
import { announce } from '../parts/announcer.tsx'
import { dayInText, wholeMoment } from '../parts/moments.ts'
import { parseAddresses } from '../parts/parse-addresses.ts'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { changeList, type ListChange } from './change-list.ts'
import { usePolicies } from './use-policies.ts'

/** The list of an e-mail room, as the room's own sealed records have it; its owner can change it here. */
export function MemberList({ session }: { session: RoomSession }) {
  const { policies, current, read } = usePolicies(session)
  const account = useStore(accountStore, (value) => value.account)
  const [problem, setProblem] = useState<string>()
  if (!current) return <p class="hint">{policies === null ? 'The list could not be fetched.' : 'Opening the list…'}</p>
  const owner = ownerEmail(current)
  const isOwner = owner !== undefined && owner === account?.email.toLowerCase()
  const change = async (wish: ListChange, done: string): Promise<boolean> => {
    setProblem(undefined)
    try {
      await changeList(session, wish)
      await read()
      announce(done)
      return true
    } catch (error) {
      const { title, text } = failureWords(error, account?.email)
      setProblem(`${title}. ${text}`)
      return false
    }
  }
  return (
    <section aria-labelledby="list">
      <h3 id="list">Who may come in</h3>
      <ul class="people">
        {owner !== undefined && !current.allow?.some(({ email }) => email === owner) && (
          <MemberRow name={owner} member={{ email: owner, admitted_at: policies![0]!.at }} isOwner />
        )}
        {current.allow?.map((member) => (
          <MemberRow
            key={member.email}
            name={member.email}
            member={member}
            isOwner={member.email === owner}
            {...(isOwner && {
              onExpel: () => change({ op: 'expel', emails: [member.email] }, `${member.email} was removed`),
              onAdmit: () => change({ op: 'admit', emails: [member.email] }, `${member.email} was let in`),
            })}
          />
        ))}
        {current.agents?.map((agent) => (
          <MemberRow
            key={agent.id}
            name={agent.id}
            member={agent}
            isAgent
            {...(isOwner && {
              onExpel: () => change({ op: 'expel', agents: [agent.id] }, `${agent.id} was removed`),
              onAdmit: () => change({ op: 'admit', agents: [agent.id] }, `${agent.id} was let in`),
            })}
          />
        ))}
      </ul>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {isOwner ? (
        <AdmitForm
          onAdmit={(emails) =>
            change(
              { op: 'admit', emails },
              emails.length === 1 ? `${emails[0]} was let in` : `${emails.length} people were let in`,
            )
          }
        />
      ) : (
        <p class="hint">
          Only <bdi>{owner ?? 'its owner'}</bdi> can change the list.
        </p>
      )}
    </section>
  )
}

function ownerEmail({ owner }: PolicyRecord): string | undefined {
  return owner && 'email' in owner ? owner.email : undefined
}

interface MemberRowProps {
  name: string
  member: Member | AdmittedAgent
  isOwner?: boolean
  isAgent?: boolean
  onExpel?: () => Promise<boolean>
  onAdmit?: () => Promise<boolean>
}

function MemberRow({
  name,
  member: { admitted_at, revoked_at },
  isOwner = false,
  isAgent = false,
  onExpel,
  onAdmit,
}: MemberRowProps) {
  const at = revoked_at ?? admitted_at
  return (
    <li class={revoked_at === undefined ? undefined : 'revoked'}>
      <div class="person">
        <p>
          <bdi class="name">{name}</bdi> {isAgent && <span class="badge">Agent</span>}{' '}
          {isOwner && <span class="badge">Owner</span>}
        </p>
        <p class="hint">
          {revoked_at === undefined ? 'Let in ' : 'Removed '}
          <time dateTime={at} title={wholeMoment(at)}>
            {dayInText(at)}
          </time>
        </p>
      </div>
      {!isOwner && onExpel && onAdmit && (
        <button class="button small" type="button" onClick={() => void (revoked_at === undefined ? onExpel() : onAdmit())}>
          {revoked_at === undefined ? 'Remove' : 'Let in again'}
          <span class="unseen"> {name}</span>
        </button>
      )}
    </li>
  )
}

function AdmitForm({ onAdmit }: { onAdmit: (emails: string[]) => Promise<boolean> }) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const admit = async () => {
    const { emails, wrong } = parseAddresses(text)
    setProblem(wrong.length > 0 ? `This is not an e-mail address: ${wrong[0]}` : undefined)
    if (wrong.length === 0 && emails.length > 0 && (await onAdmit(emails))) setText('')
  }
  return (
    <form
      class="admit"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void admit()
      }}
    >
      <label for="admit">Let someone in</label>
      <div class="admit-row">
        <input
          id="admit"
          type="text"
          inputMode="email"
          autoCapitalize="none"
          autoComplete="off"
          spellcheck={false}
          placeholder="cem@example.com"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button class="button primary" type="submit">
          Let in
        </button>
      </div>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}
