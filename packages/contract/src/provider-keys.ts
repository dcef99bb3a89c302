import Type from 'typebox'
import { operation } from './operation.ts'
import { closed, nullable, Timestamp } from './schemas.ts'

/** Those who run models for us. A further provider is one more name here and its adapter. */
export const providers = ['openai', 'anthropic', 'google'] as const

const providerKey = nullable(Type.String({ minLength: 8, maxLength: 500, description: 'The key; null removes it.' }))
const keyHint = Type.Object({
  hint: Type.String({ description: 'The last four characters.' }),
  set_at: Timestamp,
})

const ProviderKeys = Type.Object({
  providers: Type.Object({
    openai: Type.Optional(keyHint),
    anthropic: Type.Optional(keyHint),
    google: Type.Optional(keyHint),
  }),
})
const providerKeysExample = { providers: { openai: { hint: '…9xQ2', set_at: '2026-11-20T09:30:00.000Z' } } }

export const providerKeyOperations = {
  setProviderKeys: operation({
    id: 'setProviderKeys',
    method: 'PUT',
    path: '/tenant/provider-keys',
    status: 'proposed',
    becomes: 'live',
    tag: 'Provider keys',
    summary: 'Set your own provider keys',
    description:
      'Sets the keys that are named, removes those that are null, and leaves the others as they are. Keys are sealed at rest, bound to the ' +
      'tenant and the provider, and never come back: only a hint does.',
    caller: 'secret',
    body: closed(
      { openai: Type.Optional(providerKey), anthropic: Type.Optional(providerKey), google: Type.Optional(providerKey) },
      { minProperties: 1 },
    ),
    answers: { 200: { description: 'The providers that have a key.', data: ProviderKeys } },
    example: { body: { openai: 'sk-…9xQ2', google: null }, data: providerKeysExample },
  }),
  getProviderKeys: operation({
    id: 'getProviderKeys',
    method: 'GET',
    path: '/tenant/provider-keys',
    status: 'proposed',
    becomes: 'live',
    tag: 'Provider keys',
    summary: 'Which providers have a key',
    description: 'Hints and times, never the keys.',
    caller: 'secret',
    answers: { 200: { description: 'The providers that have a key.', data: ProviderKeys } },
    example: { data: providerKeysExample },
  }),
}
