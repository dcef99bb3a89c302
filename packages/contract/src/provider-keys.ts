import { Type } from './type.ts'
import { operation } from './operation.ts'
import { owners } from './roles.ts'
import { closed, nullable, Timestamp } from './schemas.ts'

/** The model providers. To add a provider, add its name here and an adapter. */
export const providers = ['openai', 'anthropic', 'google', 'openai_compatible'] as const

/** In characters. Space around a key does not count and is not stored. */
export const minProviderKeyLength = 8

const providerKey = nullable(
  Type.String({ minLength: minProviderKeyLength, maxLength: 500, description: 'The key; null removes it.' }),
)
const compatible = nullable(
  closed({
    url: Type.String({
      minLength: 1,
      maxLength: 2_000,
      pattern: '^https?://',
      description: 'Base URL, such as https://models.example/v1. https, with a public address.',
    }),
    key: Type.String({ minLength: minProviderKeyLength, maxLength: 500 }),
  }),
)
const keyHint = Type.Object({
  hint: Type.String({ description: 'The last four characters.' }),
  url: Type.Optional(Type.String({ description: 'Base URL of an openai_compatible service.' })),
  set_at: Timestamp,
})

const ProviderKeys = Type.Object({
  providers: Type.Object({
    openai: Type.Optional(keyHint),
    anthropic: Type.Optional(keyHint),
    google: Type.Optional(keyHint),
    openai_compatible: Type.Optional(keyHint),
  }),
})
const providerKeysExample = { providers: { openai: { hint: '…9xQ2', set_at: '2026-11-20T09:30:00.000Z' } } }

export const providerKeyOperations = {
  setProviderKeys: operation({
    id: 'setProviderKeys',
    kind: 'write',
    method: 'PUT',
    path: '/tenant/provider-keys',
    status: 'live',
    tag: 'Provider keys',
    summary: 'Set your own provider keys',
    description:
      'Sets the keys that are sent, removes those that are null, and leaves the others unchanged. Keys are sealed ' +
      'at rest, bound to the tenant and the provider, and never returned: answers contain only a hint. ' +
      "openai_compatible is any other service with the protocol of OpenAI's chat completions and images, at its " +
      'own base URL.',
    caller: 'secret',
    roles: owners,
    audited: true,
    body: closed(
      {
        openai: Type.Optional(providerKey),
        anthropic: Type.Optional(providerKey),
        google: Type.Optional(providerKey),
        openai_compatible: Type.Optional(compatible),
      },
      { minProperties: 1 },
    ),
    answers: { 200: { description: 'The providers that have a key.', data: ProviderKeys } },
    example: { body: { openai: 'sk-…9xQ2', google: null }, data: providerKeysExample },
  }),
  getProviderKeys: operation({
    id: 'getProviderKeys',
    kind: 'read',
    method: 'GET',
    path: '/tenant/provider-keys',
    status: 'live',
    tag: 'Provider keys',
    summary: 'List provider keys',
    description: 'Hints and times, never the keys.',
    caller: 'secret',
    roles: owners,
    answers: { 200: { description: 'The providers that have a key.', data: ProviderKeys } },
    example: { data: providerKeysExample },
  }),
}
