import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { InvitedAgents } from '../agents/invited-agents.ts'
import { isOffList, launchWords } from '../agents/launch-words.ts'
import { parseCoupon } from '../agents/parse-coupon.ts'
import { ApiFailure, type CatalogAgent } from '../api/platform-api.ts'
import type { SpaceConfig } from '../config.ts'
import { AgentMark } from '../components/agent-mark.tsx'
import { Avatar } from '../components/avatar.tsx'
import { describedBy, Problem } from '../components/problem.tsx'
import type { RoomSession } from '../room/room-session.ts'
import { InviteTerms } from './invite-terms.tsx'
import { LetIn } from './let-in.tsx'
import { t } from '../text/text.ts'

interface InviteFormProps {
  agent: CatalogAgent
  session: RoomSession
  invited: InvitedAgents
  config: SpaceConfig
  onBack: () => void
  onDone: () => void
}

/**
 * The consequences of inviting this agent, the coupon that pays, and the button. The coupon is kept only in the
 * memory of this form.
 */
export function InviteForm({ agent: listed, session, invited, config, onBack, onDone }: InviteFormProps) {
  /** The price that the service returned last. The catalog may be older. */
  const [price, setPrice] = useState(listed.price_credits)
  const agent = { ...listed, price_credits: price }
  const heading = useRef<HTMLHeadingElement>(null)
  const [text, setText] = useState('')
  const needsConsent = invited.needsConsent(agent)
  const [agrees, setAgrees] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [offList, setOffList] = useState(false)
  const foot = useRef<HTMLDivElement>(null)
  const problemId = useId()
  useLayoutEffect(() => heading.current?.focus(), [])
  // The problem is shown below the field, where it may be outside a phone's screen.
  useEffect(() => foot.current?.scrollIntoView({ block: 'nearest' }), [problem, offList])
  const invite = async () => {
    const coupon = parseCoupon(text)
    setOffList(false)
    setProblem(coupon === undefined ? notCoupon() : undefined)
    if (coupon === undefined || busy) return
    if (needsConsent && !agrees) return setProblem(t.agents.sealed.consentMissing)
    setBusy(true)
    try {
      if ((await invited.invite(agent, coupon)) === 'coming') return onDone()
      setProblem(t.agents.alreadyHere(agent.name))
    } catch (error) {
      setOffList(isOffList(error))
      const { title, text } = launchWords(error, agent.price_credits)
      if (!isOffList(error)) setProblem(t.titled(title, text))
      if (error instanceof ApiFailure && error.priceCredits !== undefined) setPrice(error.priceCredits)
    }
    setBusy(false)
  }
  return (
    <>
      <div class="buttons">
        <button class="link-button" type="button" onClick={onBack}>
          {t.agents.all}
        </button>
      </div>
      <div class="chosen">
        <Avatar author={{ kind: 'agent', id: agent.id, name: agent.name }} />
        <h3 ref={heading} tabIndex={-1}>
          <bdi class="name">{agent.name}</bdi> <AgentMark />
        </h3>
      </div>
      <p class="description whole" dir="auto">
        {agent.description}
      </p>
      <InviteTerms agent={agent} session={session} config={config} />
      <form
        class="invite"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void invite()
        }}
      >
        <CouponField
          value={text}
          problemId={problemId}
          isWrong={problem === notCoupon()}
          onChange={setText}
          buyUrl={config.coupon_url}
        />
        {needsConsent && (
          <label class="consent">
            <input
              type="checkbox"
              {...describedBy(undefined, problemId, problem === t.agents.sealed.consentMissing)}
              checked={agrees}
              onChange={(event) => setAgrees(event.currentTarget.checked)}
            />
            <span>{t.agents.sealed.consent(<bdi class="name">{agent.name}</bdi>)}</span>
          </label>
        )}
        <div ref={foot}>
          <Problem id={problemId} text={problem} />
          {offList && <LetIn agent={agent} session={session} onLetIn={invite} />}
        </div>
        <button class="button primary large" type="submit" aria-disabled={busy}>
          {busy ? t.agents.inviting : agent.price_credits === 0 ? t.agents.inviteFree : t.agents.inviteFor(agent.price_credits)}
        </button>
      </form>
    </>
  )
}

const notCoupon = () => t.agents.notCoupon('cpn_', 40)

interface CouponFieldProps {
  value: string
  problemId: string
  isWrong: boolean
  onChange: (value: string) => void
  buyUrl: string | undefined
}

function CouponField({ value, problemId, isWrong, onChange, buyUrl }: CouponFieldProps) {
  const [id, hintId] = [useId(), useId()]
  return (
    <div class="field">
      <label for={id}>{t.agents.coupon}</label>
      <input
        id={id}
        type="text"
        dir="ltr"
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
        placeholder="cpn_…"
        {...describedBy(hintId, problemId, isWrong)}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <p class="hint" id={hintId}>
        {t.agents.couponHint}
      </p>
      {buyUrl !== undefined && URL.parse(buyUrl)?.protocol === 'https:' && (
        <a class="buy" href={buyUrl} target="_blank" rel="noopener noreferrer">
          {t.tools.agents.buyCoupon(new URL(buyUrl).host)}
        </a>
      )}
    </div>
  )
}
