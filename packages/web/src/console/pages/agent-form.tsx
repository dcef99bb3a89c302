import { useState } from 'preact/hooks'
import { isolated } from '../../space/text/format.ts'
import { api } from '../api/api.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { SelectField, TextArea, TextField } from '../components/fields.tsx'
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

/** Registers an agent, or changes what people see of it and how it answers. Tools are set through the API. */
export function AgentForm({ agent, onClose, onSaved }: AgentFormProps) {
  const [name, setName] = useState(agent?.name ?? '')
  const [description, setDescription] = useState(agent?.description ?? '')
  const [instructions, setInstructions] = useState(agent?.instructions ?? '')
  const [price, setPrice] = useState(String(agent?.price_credits ?? 5))
  const [tokenPrice, setTokenPrice] = useState(String(agent?.credits_per_1k_tokens ?? 0))
  const [callPrice, setCallPrice] = useState(String(agent?.credits_per_tool_call ?? 0))
  const [minutes, setMinutes] = useState(String(agent?.max_minutes ?? 30))
  const [run, setRun] = useState<'hosted' | 'remote'>(agent?.endpoint === undefined ? 'hosted' : 'remote')
  const [provider, setProvider] = useState<Provider>((agent?.model?.provider as Provider | undefined) ?? 'echo')
  const [model, setModel] = useState(agent?.model?.id ?? 'echo')
  const [endpoint, setEndpoint] = useState(agent?.endpoint ?? '')
  const [keyText, setKeyText] = useState(agent?.encryption_key ? JSON.stringify(agent.encryption_key, null, 2) : '')
  const [greeting, setGreeting] = useState(agent?.greeting ?? '')
  const shared = {
    name: name.trim(),
    description: description.trim(),
    instructions,
    price_credits: Number(price),
    max_minutes: Number(minutes),
  }
  // The use of a remote agent is not metered.
  const metered = (text: string) => (run === 'remote' ? 0 : Number(text))
  const use = { credits_per_1k_tokens: metered(tokenPrice), credits_per_tool_call: metered(callPrice) }
  const chosen = run === 'remote' ? { endpoint: endpoint.trim() } : { model: { provider, id: model.trim() } }
  // Only a remote agent has one. What is wrong with the text is never sent: it may be a private key.
  const parsedKey = run === 'remote' && keyText.trim() !== '' ? parseEncryptionJwk(keyText) : undefined
  const key = typeof parsedKey === 'object' && { encryption_key: parsedKey }
  const registration = { ...shared, ...use, ...chosen, ...key, ...(greeting.trim() === '' ? {} : { greeting: greeting.trim() }) }
  const patch = {
    ...shared,
    ...use,
    ...(run === 'remote' ? { model: null } : { endpoint: null }),
    ...chosen,
    ...(parsedKey === undefined ? { encryption_key: null } : key),
    greeting: greeting.trim() === '' ? null : greeting.trim(),
  }
  const save = async (idempotencyKey: string) => {
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
      <TextField label="Name" path="/name" value={name} onChange={setName} required maxLength={120} />
      <TextArea
        label="Description"
        path="/description"
        value={description}
        onChange={setDescription}
        rows={2}
        required
        maxLength={2_000}
      />
      <SelectField label="Where it runs" path={null} value={run} onChange={setRun} options={runs} />
      {run === 'remote' && (
        <>
          <TextField
            label="Endpoint"
            path="/endpoint"
            type="url"
            value={endpoint}
            onChange={setEndpoint}
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
            onChange={setKeyText}
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
            value={provider}
            onChange={setProvider}
            options={providers.map((value) => [value, value === 'echo' ? 'echo: repeats, for tests' : value] as const)}
          />
          <TextField label="Model" path="/model/id" value={model} onChange={setModel} required maxLength={100} />
        </>
      )}
      <TextArea
        label="Instructions"
        path="/instructions"
        value={instructions}
        onChange={setInstructions}
        rows={6}
        maxLength={32_000}
        hint="The system prompt of the model. Nobody but you reads it."
      />
      <TextArea
        label="Greeting"
        path="/greeting"
        value={greeting}
        onChange={setGreeting}
        rows={2}
        maxLength={2_000}
        hint="The first message in the room."
      />
      <TextField
        label="Price of a launch, in credits"
        path="/price_credits"
        type="number"
        value={price}
        onChange={setPrice}
        min={0}
        required
      />
      {run === 'hosted' && (
        <>
          <TextField
            label="Price of 1,000 tokens, in credits"
            path="/credits_per_1k_tokens"
            type="number"
            value={tokenPrice}
            onChange={setTokenPrice}
            min={0}
            required
            hint="Paid from the budget of a session. Without a budget, use costs nothing."
          />
          <TextField
            label="Price of a tool call, in credits"
            path="/credits_per_tool_call"
            type="number"
            value={callPrice}
            onChange={setCallPrice}
            min={0}
            required
          />
        </>
      )}
      <TextField
        label="Longest stay, in minutes"
        path="/max_minutes"
        type="number"
        value={minutes}
        onChange={setMinutes}
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
