import { useState } from 'preact/hooks'
import { isolated } from '../../space/text/format.ts'
import { api } from '../api/api.ts'
import { TextField } from '../components/fields.tsx'
import { formatBytes, formatNumber } from '../components/format.tsx'
import { FormDialog } from '../components/form-dialog.tsx'
import { useChanges } from '../components/use-changes.ts'
import { Card, Fact, FactGrid } from './fact-grid.tsx'

type Limits = Awaited<ReturnType<typeof api.getTenantLimits>>['data']
type Name = keyof Limits['limits']

const titles: Record<Name, string> = {
  rate_percent: 'Rate limits, % of the default',
  stored_bytes: 'Stored bytes',
  paints_per_month: 'Paintings a month',
  paints_per_day: 'Of these, publishable keys a day',
  paints_per_address: 'Of these, one address a day',
  paints_per_collection: 'Of these, one collection a day',
  active_generations: 'Artifacts being made',
  active_sessions: 'Active sessions',
  pending_launches: 'Pending launches',
  open_streams: 'Open event streams',
  open_uploads: 'Open uploads',
  open_uploads_in_collection: 'Of these, in one collection',
  open_upload_bytes: 'Bytes of open uploads',
  upload_bytes_per_address: 'Upload bytes, one address a day',
}
const names = Object.keys(titles) as Name[]

interface LimitsCardProps {
  tenant: { id: string; name: string }
  limits: Limits
  onSaved: (limits: Limits) => void
}

/** The limits in force for a tenant. Those that an operator has set are in bold. */
export function LimitsCard({ tenant, limits, onSaved }: LimitsCardProps) {
  const [isEdited, setEdited] = useState(false)
  return (
    <Card
      title="Limits"
      actions={
        <button class="button small" type="button" onClick={() => setEdited(true)}>
          Change the limits
        </button>
      }
    >
      <FactGrid>
        {names.map((name) => (
          <Fact key={name} name={titles[name]}>
            {limits.overrides[name] === undefined ? (
              shown(name, limits.limits[name])
            ) : (
              <>
                <b>{shown(name, limits.limits[name])}</b> <span class="muted">set here</span>
              </>
            )}
          </Fact>
        ))}
      </FactGrid>
      {isEdited && (
        <LimitsForm
          tenant={tenant}
          limits={limits}
          onClose={() => setEdited(false)}
          onSaved={(saved) => {
            setEdited(false)
            onSaved(saved)
          }}
        />
      )}
    </Card>
  )
}

function shown(name: Name, value: number): string {
  return name.includes('bytes') ? formatBytes(value) : formatNumber(value)
}

type Texts = Partial<Record<Name, string>>

function textsOf({ overrides }: Limits): Texts {
  return Object.fromEntries(Object.entries(overrides).map(([name, value]) => [name, String(value)]))
}

function overridesOf(texts: Texts): Limits['overrides'] {
  const given = names.flatMap((name) => {
    const text = texts[name]?.trim() ?? ''
    return text === '' ? [] : [[name, Number(text)] as const]
  })
  return Object.fromEntries(given)
}

function LimitsForm({ tenant, limits, onClose, onSaved }: LimitsCardProps & { onClose: () => void }) {
  const { values, changes, setter } = useChanges<Texts>(textsOf(limits))
  // The call replaces all limits, so those that are not changed here are read again before.
  const save = async () => {
    const { data: now } = await api.getTenantLimits({ tenant_id: tenant.id })
    const body = overridesOf({ ...textsOf(now), ...changes })
    onSaved((await api.setTenantLimits({ tenant_id: tenant.id, body })).data)
  }
  return (
    <FormDialog
      title={`Limits of ${isolated(tenant.name)}`}
      action="Save the limits"
      layout="side"
      onClose={onClose}
      curl={() => ['setTenantLimits', { tenant_id: tenant.id, body: overridesOf(values) }]}
      onSubmit={save}
    >
      <p class="hint">An empty field is the default of the installation.</p>
      <div class="fields-2">
        {names.map((name) => (
          <TextField
            key={name}
            label={titles[name]}
            path={`/${name}`}
            type="number"
            min={name === 'rate_percent' ? 1 : 0}
            value={values[name] ?? ''}
            placeholder={String(limits.limits[name])}
            onChange={setter(name)}
          />
        ))}
      </div>
    </FormDialog>
  )
}
