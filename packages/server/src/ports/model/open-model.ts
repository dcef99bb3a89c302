import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { providers } from '@atrium/contract/provider-keys'
import type { LanguageModel } from 'ai'
import { boundedAnswers } from './answer/bounded-answers.ts'
import { echoModel } from './echo-model.ts'
import { languageModel, type ModelLimits } from './language-model.ts'
import { ModelError } from './model-error.ts'
import type { Model } from './model.ts'

type Provider = (typeof providers)[number]

interface Options {
  /** The model of the agent's registration. Absent: the echo model. */
  model?: { provider: string; id: string } | undefined
  /** The keys of the owner's tenant, by provider. */
  providerKeys: Record<string, string | undefined>
  /** The address of the provider `openai_compatible`, such as `http://localhost:11434/v1`. */
  compatibleUrl?: string | undefined
  /** The guarded egress, which limits answers. */
  fetch: typeof globalThis.fetch
  limits?: Partial<ModelLimits>
}

interface Access {
  apiKey: string
  fetch: typeof globalThis.fetch
}

const names: Record<Provider, string> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  openai_compatible: 'the model provider',
}

/** The model of an agent. Without a key for its provider, each call fails with that reason. */
export function openModel({ model, providerKeys, compatibleUrl, fetch, limits = {} }: Options): Model {
  if (!model || model.provider === 'echo') return echoModel()
  const { provider, id } = model
  const name = isProvider(provider) ? names[provider] : provider
  const apiKey = Object.hasOwn(providerKeys, provider) ? providerKeys[provider] : undefined
  if (!apiKey || !isProvider(provider)) return keyless(name)
  const access = { apiKey, fetch: boundedAnswers(fetch) }
  if (provider === 'openai_compatible') {
    if (!compatibleUrl) return keyless(name)
    return languageModel({ provider: name, model: compatible(access, compatibleUrl, id), limits })
  }
  return languageModel({ provider: name, ...adapters[provider](access, id), limits })
}

/**
 * The address is always set: otherwise an adapter would read it from the environment of this process, and send the
 * key there.
 */
const adapters = {
  openai: (access, id) => ({
    model: createOpenAI({ ...access, baseURL: 'https://api.openai.com/v1' })(id),
    // By default OpenAI stores each answer. Messages of a room must not be stored there.
    providerOptions: { openai: { store: false } },
  }),
  anthropic: (access, id) => ({ model: createAnthropic({ ...access, baseURL: 'https://api.anthropic.com/v1' })(id) }),
  google: (access, id) => ({
    model: createGoogle({ ...access, baseURL: 'https://generativelanguage.googleapis.com/v1beta' })(id),
  }),
} satisfies Record<
  Exclude<Provider, 'openai_compatible'>,
  (access: Access, id: string) => { model: LanguageModel; providerOptions?: object }
>

function compatible(access: Access, baseURL: string, id: string): Exclude<LanguageModel, string> {
  return createOpenAICompatible({ ...access, baseURL, name: 'compatible', includeUsage: true })(id)
}

function keyless(name: string): Model {
  return {
    reply: async () => {
      throw new ModelError('no_key', `This agent's owner has set no key for ${name}: I cannot answer until one is set.`)
    },
  }
}

function isProvider(name: string): name is Provider {
  return Object.hasOwn(names, name)
}
