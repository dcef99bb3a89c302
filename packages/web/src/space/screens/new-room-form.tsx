import { useId, useState } from 'preact/hooks'
import { failureWords } from '../api/failure-words.ts'
import type { SpaceConfig } from '../config.ts'
import { accountStore } from '../identity/account.ts'
import { OwnNameField } from '../components/own-name-field.tsx'
import { parseAddresses } from '../components/parse-addresses.ts'
import { describedBy, Problem } from '../components/problem.tsx'
import { SignInButton } from '../components/sign-in-button.tsx'
import { useIsShown } from '../components/use-is-shown.ts'
import { hashOf, isFile } from '../service.ts'
import { useStore } from '../use-store.ts'
import { prepareRoom, type RoomForm } from './create-room.ts'
import { keepFormDraft, takeFormDraft } from './form-draft.ts'
import { list } from '../text/format.ts'
import { t } from '../text/text.ts'

export function NewRoomForm({ config }: { config: SpaceConfig | undefined }) {
  const [form, setForm] = useState<RoomForm>(takeFormDraft)
  const [problem, setProblem] = useState<string>()
  const [making, setMaking] = useState(false)
  const [makers] = useState(() => new Map<string, ReturnType<typeof prepareRoom>>())
  const account = useStore(accountStore, (value) => value.account)
  const isShown = useIsShown()
  const problemId = useId()
  const isListed = form.policy === 'email'
  const hasAddresses = isListed || form.policy === 'listed'
  const change = (patch: Partial<RoomForm>) => {
    setProblem(undefined)
    setForm({ ...form, ...patch })
  }
  const make = async () => {
    const wrong = problemOf(form)
    setProblem(wrong)
    if (wrong !== undefined || making) return
    setMaking(true)
    try {
      const asked = JSON.stringify([form, account?.email])
      const makeRoom = makers.get(asked) ?? prepareRoom(form)
      makers.set(asked, makeRoom)
      const hash = hashOf(await makeRoom())
      if (isShown()) location.hash = hash
    } catch (error) {
      const { title, text } = failureWords(error, account?.email)
      setProblem(t.titled(title, text))
      setMaking(false)
    }
  }
  return (
    <form
      class="card new-room"
      aria-label={t.newRoom.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void make()
      }}
    >
      <fieldset>
        <legend>{t.newRoom.who}</legend>
        <Choice
          label={t.newRoom.anyone}
          hint={t.newRoom.anyoneHint}
          checked={form.policy === 'sealed'}
          onChoose={() => change({ policy: 'sealed' })}
        />
        <Choice
          label={t.newRoom.listed}
          hint={t.sealed.list.choiceHint}
          checked={form.policy === 'listed'}
          onChoose={() => change({ policy: 'listed' })}
        />
        <Choice
          label={t.newRoom.withAgents}
          hint={t.newRoom.withAgentsHint}
          checked={form.policy === 'open'}
          onChoose={() => change({ policy: 'open' })}
        />
        <Choice
          label={t.sealed.list.withAgents}
          hint={
            config && !config.identity ? (isFile() ? t.tools.file.noSignIn : t.newRoom.noSignIn) : t.sealed.list.withAgentsHint
          }
          checked={isListed}
          disabled={config?.identity === null}
          onChoose={() => change({ policy: 'email' })}
        />
      </fieldset>
      {(isListed || form.policy === 'open') && <TitleField value={form.title} onChange={(title) => change({ title })} />}
      {form.policy === 'listed' && <OwnNameField value={form.name} onChange={(name) => change({ name })} />}
      {hasAddresses && (
        <AddressField
          value={form.addresses}
          isOwn={isListed}
          problemId={problemId}
          isWrong={problem !== undefined && problem === problemOf(form)}
          onChange={(addresses) => change({ addresses })}
        />
      )}
      <Problem id={problemId} text={problem} />
      {isListed && !account ? (
        <div class="buttons column">
          <p class="hint">{t.newRoom.knowYou}</p>
          <SignInButton config={config} primary onLeave={() => keepFormDraft(form)} />
        </div>
      ) : (
        <div class="buttons column">
          <button class="button primary large" type="submit" aria-disabled={making}>
            {making ? t.newRoom.making : t.newRoom.make}
          </button>
          {isListed && account && <p class="hint">{t.newRoom.belongsTo(<bdi>{account.email}</bdi>)}</p>}
        </div>
      )}
    </form>
  )
}

const MAX_ADDRESSES = 1_000
/** Each has an invitation, which is sent by hand. */
const MAX_INVITED = 20

function problemOf({ policy, addresses }: RoomForm): string | undefined {
  if (policy !== 'email' && policy !== 'listed') return undefined
  const { emails, wrong } = parseAddresses(addresses)
  if (wrong.length > 0) return t.newRoom.notAddresses(list(wrong.slice(0, 3)))
  const most = policy === 'listed' ? MAX_INVITED : MAX_ADDRESSES
  return emails.length > most ? t.newRoom.tooMany(most) : undefined
}

function TitleField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>
        {t.newRoom.title((word) => (
          <span class="optional">{word}</span>
        ))}
      </label>
      <input
        id={id}
        type="text"
        dir="auto"
        maxLength={200}
        autoComplete="off"
        placeholder={t.newRoom.titleExample}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  )
}

interface AddressFieldProps {
  value: string
  /** The room's service reads the list, and the visitor is on it by an address. */
  isOwn: boolean
  problemId: string
  isWrong: boolean
  onChange: (value: string) => void
}

function AddressField({ value, isOwn, problemId, isWrong, onChange }: AddressFieldProps) {
  const [id, hintId] = [useId(), useId()]
  const { emails } = parseAddresses(value)
  return (
    <div class="field">
      <label for={id}>{t.newRoom.addresses}</label>
      <textarea
        id={id}
        rows={4}
        dir="ltr"
        spellcheck={false}
        autoCapitalize="none"
        autoComplete="off"
        placeholder={'ann@example.com\nbob@example.com'}
        {...describedBy(hintId, problemId, isWrong)}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <p class="hint" id={hintId}>
        {!isOwn ? t.sealed.list.addressesHint : emails.length === 0 ? t.newRoom.addressesHint : t.newRoom.andYou(emails.length)}
      </p>
    </div>
  )
}

interface ChoiceProps {
  label: string
  hint: string
  checked: boolean
  disabled?: boolean
  onChoose: () => void
}

function Choice({ label, hint, checked, disabled = false, onChoose }: ChoiceProps) {
  const id = useId()
  return (
    <label class="choice">
      <input type="radio" name="policy" checked={checked} disabled={disabled} aria-describedby={id} onChange={onChoose} />
      <span>
        <span class="choice-label">{label}</span>
        <span class="hint" id={id}>
          {hint}
        </span>
      </span>
    </label>
  )
}
