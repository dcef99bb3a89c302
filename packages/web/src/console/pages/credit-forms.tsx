import { useState } from 'preact/hooks'
import { api } from '../api/api.ts'
import { SelectField, TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/form-dialog.tsx'

/** `onMade` gets the coupon, which the server returns once. */
export function CouponForm({ onClose, onMade }: { onClose: () => void; onMade: (coupon: string) => void }) {
  const [amount, setAmount] = useState('5')
  const [memo, setMemo] = useState('')
  const [expires, setExpires] = useState('')
  const body = {
    amount: Number(amount),
    ...(memo.trim() === '' ? {} : { memo: memo.trim() }),
    // The form has a day: the coupon works until its end.
    ...(expires === '' ? {} : { expires_at: `${expires}T23:59:59.999Z` }),
  }
  return (
    <FormDialog
      title="Grant a coupon"
      action="Grant the coupon"
      onClose={onClose}
      curl={() => ['grantCoupon', { body }]}
      onSubmit={async (idempotencyKey) => onMade((await api.grantCoupon({ body, idempotencyKey })).data.coupon)}
    >
      <TextField
        label="Credits"
        path="/amount"
        type="number"
        min={1}
        value={amount}
        onChange={setAmount}
        required
        hint="From your balance."
      />
      <TextField label="Memo" path="/memo" value={memo} onChange={setMemo} maxLength={150} hint="A note for your statement." />
      <TextField
        label="Last day (UTC)"
        path="/expires_at"
        type="date"
        value={expires}
        onChange={setExpires}
        hint="Without one, it does not expire."
      />
    </FormDialog>
  )
}

const purposes = [
  ['license_key', 'A license key, for a customer'],
  ['prefund', 'Your own balance'],
] as const

export function CheckoutForm({ isIssuer, onClose }: { isIssuer: boolean; onClose: () => void }) {
  const [purpose, setPurpose] = useState<(typeof purposes)[number][0]>(isIssuer ? 'prefund' : 'license_key')
  const [credits, setCredits] = useState('100')
  const [made, setMade] = useState<string>()
  const returnAddress = `${location.origin}/console/credits/checkouts`
  const body = { purpose, credits: Number(credits), success_url: returnAddress, cancel_url: returnAddress }
  if (made !== undefined)
    return (
      <FormDialog
        title="The payment page is ready"
        action="Open it"
        onClose={onClose}
        onSubmit={async () => {
          window.open(made, '_blank', 'noopener,noreferrer')
          onClose()
        }}
      >
        <p>Pay there, or pass the address on. The checkout lists whether it was paid.</p>
        <p>
          <code>{made}</code>
        </p>
      </FormDialog>
    )
  return (
    <FormDialog
      title="Sell credits"
      action="Make the payment page"
      onClose={onClose}
      curl={() => ['createCheckout', { body }]}
      onSubmit={async (idempotencyKey) => setMade((await api.createCheckout({ body, idempotencyKey })).data.url)}
    >
      <SelectField label="For" path="/purpose" value={purpose} options={purposes} onChange={setPurpose} />
      <TextField label="Credits" path="/credits" type="number" min={1} value={credits} onChange={setCredits} required />
    </FormDialog>
  )
}
