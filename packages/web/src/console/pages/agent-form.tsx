import { isolated } from '../../space/text/format.ts'
import { api } from '../api/api.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { SelectField, TextArea, TextField } from '../components/fields.tsx'
import { useChanges } from '../components/use-changes.ts'
import { parseEncryptionJwk } from './public-jwk.ts'

export type Agent = Awaited<ReturnType<typeof api.getAgent>>['data']

const providers = ['echo', 'openai', 'anthropic', 'google', 'openai_compatible'] as const
type Provider = (typeof providers)[number]

const runs = [
  ['hosted', 'Here, with a model'],
  ['remote', 'On your own server'],
] as const

interface AgentFormProps {
  /** The agent to change; absent: a new one. */
  agent: Agent | undefined
  onClose: () => void
  onSaved: (agent: Agent) => void
}

type Patch = Parameters<typeof api.updateAgent>[0]['body']
type Jwk = NonNullable<Agent['encryption_key']>

function valuesOf(agent: Agent | undefined) {
  return {
    name: agent?.name ?? '',
    description: agent?.description ?? '',
    instructions: agent?.instructions ?? '',
    price: String(agent?.price_credits ?? 5),
    tokenPrice: String(agent?.credits_per_1k_tokens ?? 0),
    callPrice: String(agent?.credits_per_tool_call ?? 0),
    minutes: String(agent?.max_minutes ?? 30),
    run: agent?.endpoint === undefined ? ('hosted' as const) : ('remote' as const),
    provider: (agent?.model?.provider as Provider | undefined) ?? 'echo',
    model: agent?.model?.id ?? 'echo',
    endpoint: agent?.endpoint ?? '',
    keyText: agent?.encryption_key ? JSON.stringify(agent.encryption_key, null, 2) : '',
    greeting: agent?.greeting ?? '',
  }
}
type Values = ReturnType<typeof valuesOf>

function registrationOf(values: Values, key: Jwk | undefined) {
  const { run, provider, model, tokenPrice, callPrice } = values
  // The use of a remote agent is not metered.
  const metered = (text: string) => (run === 'remote' ? 0 : Number(text))
  const greeting = values.greeting.trim()
  return {
    name: values.name.trim(),
    description: values.description.trim(),
    instructions: values.instructions,
    price_credits: Number(values.price),
    max_minutes: Number(values.minutes),
    credits_per_1k_tokens: metered(tokenPrice),
    credits_per_tool_call: metered(callPrice),
    ...(run === 'remote' ? { endpoint: values.endpoint.trim() } : { model: { provider, id: model.trim() } }),
    ...(key && { encryption_key: key }),
    ...(greeting !== '' && { greeting }),
  }
}

/** The fields of the form that a field of an agent is made of. */
const sources: Record<Exclude<keyof Patch, 'tools' | 'avatar_url' | 'rotate_signing_secret'>, readonly (keyof Values)[]> = {
  name: ['name'],
  description: ['description'],
  instructions: ['instructions'],
  price_credits: ['price'],
  max_minutes: ['minutes'],
  credits_per_1k_tokens: ['tokenPrice', 'run'],
  credits_per_tool_call: ['callPrice', 'run'],
  model: ['provider', 'model', 'run'],
  endpoint: ['endpoint', 'run'],
  encryption_key: ['keyText', 'run'],
  greeting: ['greeting'],
}

/** null removes a field. An encryption key with a problem is left out. */
function patchOf(changes: Partial<Values>, values: Values, parsedKey: Jwk | string | undefined): Patch {
  const hasProblem = typeof parsedKey === 'string'
  const key = hasProblem ? undefined : parsedKey
  const whole = { model: null, endpoint: null, encryption_key: null, greeting: null, ...registrationOf(values, key) }
  const isChanged = (field: string) =>
    sources[field as keyof typeof sources].some((name) => name in changes) && !(hasProblem && field === 'encryption_key')
  return Object.fromEntries(Object.entries(whole).filter(([field]) => isChanged(field)))
}

/** Registers an agent, or changes what people see of it and how it answers. Tools are set through the API. */
export function AgentForm({ agent, onClose, onSaved }: AgentFormProps) {
  const { values, changes, setter } = useChanges(valuesOf(agent))
  const { run, keyText } = values
  // Only a remote agent has one. What is wrong with the text is never sent: it may be a private key.
  const parsedKey = run === 'remote' && keyText.trim() !== '' ? parseEncryptionJwk(keyText) : undefined
  const key = typeof parsedKey === 'object' ? parsedKey : undefined
  const registration = registrationOf(values, key)
  const patch = patchOf(changes, values, parsedKey)
  const save = async (idempotencyKey: string) => {
    if (agent && Object.keys(patch).length === 0) return onClose()
    const { data } = agent
      ? await api.updateAgent({ agentId: agent.id, body: patch })
      : await api.registerAgent({ body: registration, idempotencyKey })
    onSaved(data)
  }
  return (
    <FormDialog
      title={agent ? `Edit ${isolated(agent.name)}` : 'New agent'}
      action={agent ? 'Save' : 'Register the agent'}
      layout="side"
      onClose={onClose}
      onSubmit={save}
      curl={() => (agent ? ['updateAgent', { agentId: agent.id, body: patch }] : ['registerAgent', { body: registration }])}
    >
      <TextField label="Name" path="/name" value={values.name} onChange={setter('name')} required maxLength={120} />
      <TextArea
        label="Description"
        path="/description"
        value={values.description}
        onChange={setter('description')}
        rows={2}
        required
        maxLength={2_000}
      />
      <SelectField label="Where it runs" path={null} value={run} onChange={setter('run')} options={runs} />
      {run === 'remote' && (
        <>
          <TextField
            label="Endpoint"
            path="/endpoint"
            type="url"
            value={values.endpoint}
            onChange={setter('endpoint')}
            required
            hint="An https address with a public host. It receives a signed request at each launch."
          />
          <TextArea
            label="Encryption key (JWK)"
            path="/encryption_key"
            code
            rows={4}
            maxLength={10_000}
            value={keyText}
            onChange={setter('keyText')}
            problem={typeof parsedKey === 'string' ? parsedKey : undefined}
            hint={keyHint(parsedKey)}
          />
        </>
      )}
      {run === 'hosted' && (
        <>
          <SelectField
            label="Provider"
            path="/model/provider"
            value={values.provider}
            onChange={setter('provider')}
            options={providers.map((value) => [value, value === 'echo' ? 'echo: repeats, for tests' : value] as const)}
          />
          <TextField label="Model" path="/model/id" value={values.model} onChange={setter('model')} required maxLength={100} />
        </>
      )}
      <TextArea
        label="Instructions"
        path="/instructions"
        value={values.instructions}
        onChange={setter('instructions')}
        rows={6}
        maxLength={32_000}
        hint="The system prompt of the model. Nobody but you reads it."
      />
      <TextArea
        label="Greeting"
        path="/greeting"
        value={values.greeting}
        onChange={setter('greeting')}
        rows={2}
        maxLength={2_000}
        hint="The first message in the room."
      />
      <TextField
        label="Price of a launch, in credits"
        path="/price_credits"
        type="number"
        value={values.price}
        onChange={setter('price')}
        min={0}
        required
      />
      {run === 'hosted' && (
        <>
          <TextField
            label="Price of 1,000 tokens, in credits"
            path="/credits_per_1k_tokens"
            type="number"
            value={values.tokenPrice}
            onChange={setter('tokenPrice')}
            min={0}
            required
            hint="Paid from the budget of a session. Without a budget, use costs nothing."
          />
          <TextField
            label="Price of a tool call, in credits"
            path="/credits_per_tool_call"
            type="number"
            value={values.callPrice}
            onChange={setter('callPrice')}
            min={0}
            required
          />
        </>
      )}
      <TextField
        label="Longest stay, in minutes"
        path="/max_minutes"
        type="number"
        value={values.minutes}
        onChange={setter('minutes')}
        min={1}
        max={1_440}
        required
      />
    </FormDialog>
  )
}

function keyHint(parsed: ReturnType<typeof parseEncryptionJwk> | undefined): string {
  if (typeof parsed === 'string') return parsed
  if (parsed) return 'This is a public P-256 key. Keep its private key where the agent runs.'
  return 'Optional: a public P-256 key. With it, the agent can be launched into rooms whose key no server receives.'
}
