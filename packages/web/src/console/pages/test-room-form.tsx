import { errorOfAnswer } from '@atrium/client/error-of-answer'
import { newRoomSecret, randomId } from '@atrium/room-client/new-room-secret'
import type { RoomSecret } from '@atrium/sealing/room-secret'
import { useRef, useState } from 'preact/hooks'
import { isolated } from '../../space/text/format.ts'
import { api } from '../api/api.ts'
import { useQuery } from '../api/use-query.ts'
import { FailureNote } from '../components/failure.tsx'
import { SelectField, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { formatNumber } from '../components/format.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Loading } from '../components/loading.tsx'
import { Link } from '../router/router.tsx'
import type { Agent } from './agent-form.tsx'

/** An agent that was launched into a room of this browser. */
export interface Trial {
  sessionId: string
  /** Reads and stops the session. */
  controlToken: string
  /** With the key of the room in its fragment. */
  roomUrl: string
}

interface Funds {
  spacesUrl: string
  /** The issuer's own credits; undefined: the tenant may not grant coupons. */
  balance: number | undefined
}

interface TestRoomFormProps {
  agent: Agent
  onClose: () => void
  onLaunched: (trial: Trial) => void
}

const LONGEST_MINUTES = 15
const DAY_MS = 86_400_000
const waysToPay = [
  ['balance', 'Your balance'],
  ['coupon', 'A coupon or wallet code'],
] as const

/** Shows what a trial costs, and launches the agent after a confirmation. */
export function TestRoomForm(props: TestRoomFormProps) {
  const { data, error, reload } = useQuery('funds', loadFunds)
  if (data) return <LaunchForm {...props} funds={data} />
  return (
    <Dialog title={`Try ${isolated(props.agent.name)}`} onClose={props.onClose}>
      <div class="dialog-body">
        {error === undefined ? <Loading lines={3} /> : <FailureNote error={error} onRetry={reload} />}
      </div>
    </Dialog>
  )
}

async function loadFunds(signal: AbortSignal): Promise<Funds> {
  const [spacesUrl, { roles }] = await Promise.all([loadSpacesUrl(signal), api.getTenant({ signal }).then(({ data }) => data)])
  // An empty list means every role.
  const isIssuer = roles.length === 0 || roles.includes('issuer')
  return { spacesUrl, balance: isIssuer ? (await api.getIssuerBalance({ signal })).data.balance : undefined }
}

async function loadSpacesUrl(signal: AbortSignal): Promise<string> {
  const res = await fetch('/v1/', { headers: { accept: 'application/json' }, credentials: 'omit', signal })
  const text = await res.text()
  if (!res.ok) throw errorOfAnswer(res, text)
  return (JSON.parse(text) as { spaces_app_url: string }).spaces_app_url
}

function LaunchForm({ agent, funds: { spacesUrl, balance }, onClose, onLaunched }: TestRoomFormProps & { funds: Funds }) {
  const { price_credits: price } = agent
  // Also an agent without a price needs a coupon that is not spent.
  const amount = Math.max(price, 1)
  const canGrant = balance !== undefined
  const [way, setWay] = useState<(typeof waysToPay)[number][0]>(canGrant && balance >= amount ? 'balance' : 'coupon')
  const [given, setGiven] = useState('')
  const room = useRef<RoomSecret | undefined>(undefined)
  // Made once, as the room is, so that a repeat after a lost answer does not grant twice.
  const [attempt] = useState(() => ({
    grantKey: randomId(),
    expiresAt: new Date(Date.now() + DAY_MS).toISOString(),
  }))
  const minutes = Math.min(LONGEST_MINUTES, agent.max_minutes)
  const bodyWith = (secret: RoomSecret, coupon: string) => ({
    agent_id: agent.id,
    room: secret,
    coupon,
    max_price_credits: price,
    max_minutes: minutes,
  })
  const grant = async () => {
    const body = { amount, expires_at: attempt.expiresAt, memo: `Trial of ${agent.name}`.slice(0, 150) }
    return (await api.grantCoupon({ body, idempotencyKey: attempt.grantKey })).data.coupon
  }
  const launch = async (idempotencyKey: string) => {
    room.current ??= await makeRoom(agent.name)
    const coupon = way === 'balance' ? await grant() : given.trim()
    const { data } = await api.launchSession({ body: bodyWith(room.current, coupon), idempotencyKey })
    if (!('control_token' in data)) throw new Error('the agent was in the new room already')
    onLaunched({
      sessionId: data.id,
      controlToken: data.control_token,
      roomUrl: `${spacesUrl}/space#${room.current.room}.${room.current.mk}`,
    })
  }
  const name = isolated(agent.name)
  const heading = price === 0 ? `Try ${name}` : `Try ${name} for ${formatNumber(price)} credits`
  return (
    <FormDialog
      title={heading}
      action={price === 0 ? 'Launch' : `Launch for ${formatNumber(price)} credits`}
      onClose={onClose}
      onSubmit={launch}
      curl={() => [
        'launchSession',
        { body: bodyWith(newRoomSecret(), way === 'coupon' && given !== '' ? given.trim() : 'cpn_…') },
      ]}
    >
      <p>
        {price === 0
          ? 'The agent has no price. One credit shows that somebody stands behind the launch, and comes back within a day.'
          : 'The price is held now and charged when the session ends. It comes back if the agent never joins.'}{' '}
        The agent leaves after {minutes} minutes, or when you stop it. What it uses is not charged in a trial.
      </p>
      {canGrant && (
        <SelectField
          label="Pay with"
          path={null}
          value={way}
          options={waysToPay}
          onChange={setWay}
          hint={`Your balance has ${formatNumber(balance)} credits.`}
        />
      )}
      {way === 'coupon' && (
        <TextField
          label="Coupon or wallet code"
          path="/coupon"
          type="password"
          value={given}
          onChange={setGiven}
          required
          maxLength={200}
        />
      )}
      {way === 'balance' && balance !== undefined && balance < amount && (
        <p>
          That is not enough. Fill it on the page <Link to="/credits/checkouts">Credits</Link>.
        </p>
      )}
    </FormDialog>
  )
}

/**
 * Makes an open room, because the app opens none that has nothing in it. A room is not made twice: after a lost answer
 * the next one has another name, and the first is removed because nobody writes into it.
 */
async function makeRoom(agentName: string): Promise<RoomSecret> {
  const secret = newRoomSecret()
  await api.callSpace({ body: { op: 'create', ...secret, policy: 'open', title: `Test of ${agentName}`.slice(0, 200) } })
  return secret
}
