import type { PolicyRecord } from '@atrium/sealing/records'
import { useRef, useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import { accountStore } from '../identity/account.ts'
import { announce } from '../components/announcer.tsx'
import type { Participant } from '../components/authors.ts'
import { parseAddresses } from '../components/parse-addresses.ts'
import { Problem } from '../components/problem.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { useStore } from '../use-store.ts'
import { AdmitForm } from './admit-form.tsx'
import { AgentList } from './agent-list.tsx'
import { changeList, type ListChange } from './change-list.ts'
import { MemberRow } from './member-row.tsx'
import { usePolicies } from './use-policies.ts'
import { t } from '../text/text.ts'

/** Changes the list and announces `done`. Resolves to whether it succeeded. */
export type Change = (asked: ListChange, done: string) => Promise<boolean>

interface MemberListProps {
  session: RoomSession
  people: readonly Participant[]
  hasCatalog: boolean
  onInvite: () => void
}

/** The list of a room, read from the room's own sealed records. The owner can change it here. */
export function MemberList({ session, people, hasCatalog, onInvite }: MemberListProps) {
  const { policies, current, read } = usePolicies(session)
  const account = useStore(accountStore, (value) => value.account)
  const [problem, setProblem] = useState<string>()
  const isRunning = useRef(false)
  const since = policies?.[0]?.at
  if (!current) return <p class="hint">{policies === null ? t.people.unreachable : t.people.opening}</p>
  const owner = ownerEmail(current)
  const isOwner = owner !== undefined && owner === account?.email.toLowerCase()
  const change: Change = async (asked, done) => {
    if (isRunning.current) return false
    isRunning.current = true
    setProblem(undefined)
    try {
      await changeList(session, asked)
      await read()
      announce(done)
      return true
    } catch (error) {
      const { title, text } = failureWords(error, account?.email)
      setProblem(t.titled(title, text))
      return false
    } finally {
      isRunning.current = false
    }
  }
  return (
    <>
      <section aria-labelledby="list">
        <h3 id="list">{t.people.listTitle}</h3>
        <ul class="people">
          {owner !== undefined && since !== undefined && !current.allow?.some(({ email }) => email === owner) && (
            <MemberRow name={owner} member={{ email: owner, admitted_at: since }} isOwner />
          )}
          {current.allow?.map((member) => (
            <MemberRow
              key={member.email}
              name={member.email}
              member={member}
              isOwner={member.email === owner}
              {...(isOwner && {
                onExpel: () => change({ op: 'expel', emails: [member.email] }, t.people.wasRemoved(member.email)),
                onAdmit: () => change({ op: 'admit', emails: [member.email] }, t.people.wasLetIn(member.email)),
              })}
            />
          ))}
        </ul>
        {isOwner ? (
          <AdmitPeople change={change} />
        ) : (
          <p class="hint">{t.people.onlyOwner(<bdi>{owner ?? t.people.itsOwner}</bdi>)}</p>
        )}
      </section>
      <AgentList
        agents={current.agents ?? []}
        people={people}
        change={isOwner ? change : undefined}
        hasCatalog={hasCatalog}
        onInvite={onInvite}
      />
      <Problem text={problem} />
    </>
  )
}

function AdmitPeople({ change }: { change: Change }) {
  return (
    <AdmitForm
      label={t.people.letSomeoneIn}
      placeholder="cem@example.com"
      inputMode="email"
      parse={(text) => {
        const { emails, wrong } = parseAddresses(text)
        return { names: emails, wrong: wrong[0] }
      }}
      wrongText={(wrong) => t.newRoom.notAddresses(wrong)}
      onAdmit={(emails) =>
        change(
          { op: 'admit', emails },
          emails.length === 1 ? t.people.wasLetIn(emails[0] ?? '') : t.people.wereLetIn(emails.length),
        )
      }
    />
  )
}

function ownerEmail({ owner }: PolicyRecord): string | undefined {
  return owner && 'email' in owner ? owner.email : undefined
}
