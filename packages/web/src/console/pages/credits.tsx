import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { may } from '../api/roles.ts'
import { useAction } from '../api/use-action.ts'
import { usePages } from '../api/use-pages.ts'
import { useQuery } from '../api/use-query.ts'
import { CopyText } from '../components/copy.tsx'
import { CurlButton } from '../components/curl-button.tsx'
import { PagedTable } from '../components/data-table.tsx'
import { FailureNote } from '../components/failure.tsx'
import { SelectField } from '../components/fields.tsx'
import { Badge, formatNumber, Time } from '../components/format.tsx'
import { Icon } from '../components/icon.tsx'
import { Loading } from '../components/loading.tsx'
import { Empty, PageHead } from '../components/page-head.tsx'
import { Tabs } from '../components/tabs.tsx'
import { usePath, useSearch } from '../router/router.tsx'
import { useSecrets } from '../shell/secrets.tsx'
import { CheckoutForm, CouponForm } from './credit-forms.tsx'
import { Epochs } from './epochs.tsx'
import { downloadStatement } from './statement.ts'

const lead = 'What you issued and sold, and where it went. Nobody sees who spent it.'

/** The money of a tenant: what it issued, sold and granted. */
export function Credits() {
  const path = usePath()
  const tenant = useQuery('tenant', async (signal) => (await api.getTenant({ signal })).data)
  const [form, setForm] = useState<'coupon' | 'checkout'>()
  const showSecret = useSecrets()
  const [turn, setTurn] = useState(0)
  if (!tenant.data)
    return (
      <>
        <PageHead title="Credits" lead={lead} />
        {tenant.error === undefined ? <Loading /> : <FailureNote error={tenant.error} onRetry={tenant.reload} />}
      </>
    )
  // An empty list means every role.
  const { roles } = tenant.data
  const isIssuer = roles.length === 0 || roles.includes('issuer')
  const mayChange = may('develop')
  return (
    <>
      <PageHead title="Credits" lead={lead}>
        {mayChange && (
          <button class="button" type="button" onClick={() => setForm('checkout')}>
            Sell credits
          </button>
        )}
        {mayChange && isIssuer && (
          <button class="button primary" type="button" onClick={() => setForm('coupon')}>
            <Icon name="plus" />
            Grant a coupon
          </button>
        )}
      </PageHead>
      {isIssuer && <Balance key={turn} />}
      <Tabs
        label="Parts of the credits"
        path={path}
        tabs={[
          ['/credits', 'Movements'],
          ['/credits/checkouts', 'Checkouts'],
          ['/credits/epochs', 'Epochs'],
        ]}
      />
      {path === '/credits' && (isIssuer ? <Movements key={turn} /> : <NotIssuer />)}
      {path === '/credits/checkouts' && <Checkouts key={turn} />}
      {path === '/credits/epochs' && <Epochs issuer={tenant.data.id} mayPublish={mayChange && isIssuer} />}
      {form === 'coupon' && (
        <CouponForm
          onClose={() => setForm(undefined)}
          onMade={(coupon) => {
            setForm(undefined)
            setTurn(turn + 1)
            showSecret({
              title: 'The coupon',
              text: 'Whoever has it can spend it. Pass it on like money.',
              secrets: [['Coupon', coupon]],
            })
          }}
        />
      )}
      {form === 'checkout' && (
        <CheckoutForm
          isIssuer={isIssuer}
          onClose={() => {
            setForm(undefined)
            setTurn(turn + 1)
          }}
        />
      )}
    </>
  )
}

function Balance() {
  const { data, error, reload } = useQuery('issuer balance', async (signal) => (await api.getIssuerBalance({ signal })).data)
  if (error !== undefined) return <FailureNote error={error} onRetry={reload} />
  return (
    <section class="card figure" aria-busy={!data}>
      <div class="card-head">
        <h2>Your balance</h2>
        <CurlButton what="read the balance" call={() => ['getIssuerBalance', {}]} />
      </div>
      <p class="big">{data ? `${formatNumber(data.balance)} credits` : '…'}</p>
      <p class="muted">Grants, fees and redeemed tokens take from it. A checkout for your own balance fills it.</p>
    </section>
  )
}

function NotIssuer() {
  return (
    <Empty title="This tenant issues no credits">
      <p>An operator of this installation gives the role issuer.</p>
    </Empty>
  )
}

export type Movement = Awaited<ReturnType<typeof api.listMovements>>['data'][number]
const kinds = ['prefund', 'sale', 'redemption', 'grant', 'return', 'fee', 'hold', 'capture', 'release', 'refund', 'loss'] as const

function Movements() {
  const [search, change] = useSearch()
  const [isBusy, run] = useAction()
  const kind = kinds.find((one) => one === search.get('kind'))
  const query = { limit: 50, ...(kind === undefined ? {} : { kind }) }
  const pages = usePages<Movement>(`movements ${kind}`, (page, signal) =>
    api.listMovements({ query: { ...query, ...page }, signal }),
  )
  return (
    <>
      <div class="filters">
        <SelectField
          path={null}
          label="Kind"
          value={kind ?? ''}
          options={[['', 'Every kind'], ...kinds.map((one) => [one, one] as const)]}
          onChange={(value) => change({ kind: value })}
        />
        <button class="button" type="button" disabled={isBusy} onClick={() => void run(() => downloadStatement(kind))}>
          <Icon name="download" />
          {isBusy ? 'Reading…' : 'Statement as CSV'}
        </button>
        <CurlButton what="list the movements" call={() => ['listMovements', { query }]} />
      </div>
      <PagedTable
        caption="Movements"
        pages={pages}
        keyOf={({ id }) => id}
        empty={
          <Empty title="There are no movements">
            <p>A prefund checkout fills the balance. Coupons and sales take from it.</p>
          </Empty>
        }
        columns={[
          { title: 'Kind', wide: true, cell: ({ kind }) => <b>{kind}</b> },
          { title: 'From', cell: ({ from }) => from },
          { title: 'To', cell: ({ to }) => to },
          { title: 'Credits', align: 'end', cell: ({ amount }) => formatNumber(amount) },
          { title: 'Memo', cell: ({ memo }) => memo ?? '' },
          { title: 'Id', cell: ({ id }) => <CopyText text={id} label="Copy the id" short /> },
          { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  )
}

const checkoutTones = { open: 'warn', paid: 'good', expired: 'plain' } as const

function Checkouts() {
  const pages = usePages('checkouts', (page, signal) => api.listCheckouts({ query: { limit: 50, ...page }, signal }))
  return (
    <PagedTable
      caption="Checkouts"
      pages={pages}
      keyOf={({ id }) => id}
      empty={
        <Empty title="There are no checkouts">
          <p>A checkout is a payment page: for a license key, or for your own balance.</p>
        </Empty>
      }
      columns={[
        { title: 'Id', wide: true, cell: ({ id }) => <CopyText text={id} label="Copy the id" short /> },
        { title: 'Purpose', cell: ({ purpose }) => (purpose === 'prefund' ? 'own balance' : 'license key') },
        { title: 'Status', cell: ({ status }) => <Badge tone={checkoutTones[status]}>{status}</Badge> },
        { title: 'Credits', align: 'end', cell: ({ credits }) => formatNumber(credits) },
        { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
        {
          title: 'Actions',
          align: 'end',
          cell: ({ url }) =>
            url !== null && (
              <a class="button small" href={url} target="_blank" rel="noopener noreferrer">
                Payment page
              </a>
            ),
        },
      ]}
    />
  )
}
