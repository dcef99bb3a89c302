import { pathOf } from '#http/parse.ts'
import type { Operation } from '@atrium/contract/operation'
import { servedOperations } from '@atrium/contract/table'

interface Route {
  method: string
  /** Matches a path without its version, written as it should be. */
  pattern: RegExp
  versioned: boolean
}

const routes: Route[] = servedOperations.map(({ method, path, status }: Operation) => ({
  method,
  // recheck: the contract's own paths, each parameter one class of characters between two slashes.
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  versioned: status === 'live',
}))

/**
 * What is wrong with an address that has no operation, where it is nearly that of one: another method, no version or
 * one too many, slashes, capitals. Told from the contract alone: it says nothing of what there is.
 */
export function explainNotFound(method: string, url: string, spacesUrl: string): string | undefined {
  const path = pathOf(url)
  if (method !== 'POST' && /^(\/v1)?\/space$/.test(path))
    return `Rooms are opened at ${spacesUrl}/space. Here is the endpoint of the service alone: POST /v1/space.`
  const plain = path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  const bare = plain.replace(/^\/v1(?=\/)/i, '')
  const near = routes.filter(({ pattern }) => pattern.test(bare) || pattern.test(bare.toLowerCase()))
  if (near.length === 0) return undefined
  const route = near.find((one) => one.method === method)
  if (!route) return `${method} is not taken here: use ${near.map((one) => one.method).join(', ')}.`
  const spelled = route.pattern.test(bare) ? bare : bare.toLowerCase()
  const right = (route.versioned ? '/v1' : '') + spelled
  return right === path ? undefined : `There is nothing at ${shorten(path)}. Did you mean ${shorten(right)}?`
}

/** Printable and short: a path is the caller's own, but it may be anything. */
function shorten(path: string): string {
  const printable = path.replaceAll(/[^ -~]/g, '?')
  return printable.length > 120 ? `${printable.slice(0, 120)}…` : printable
}
