import { CheckField, CheckGroup } from '../components/fields.tsx'

export type Roles = ('app' | 'issuer')[]

const texts = { app: 'App: builds on the platform', issuer: 'Issuer: sells and grants credits' } as const

/** The roles of a tenant. Without any, it has both. */
export function RolesField({ value, onChange }: { value: Roles; onChange: (roles: Roles) => void }) {
  const all = ['app', 'issuer'] as const
  return (
    <CheckGroup class="choices" legend="Roles" path="/roles">
      {all.map((role) => (
        <CheckField
          key={role}
          label={texts[role]}
          path={null}
          checked={value.includes(role)}
          onChange={(checked) => onChange(all.filter((one) => (one === role ? checked : value.includes(one))))}
        />
      ))}
      {value.length === 0 && <p class="hint">Without a role, a tenant has both.</p>}
    </CheckGroup>
  )
}
