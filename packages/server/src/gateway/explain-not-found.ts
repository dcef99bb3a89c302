import { namesOf } from '@atrium/contract/names-of'
import { ApiError } from '#errors/api-error.ts'
import { closest } from '#errors/closest.ts'
import { pathOf } from '#http/parse.ts'
import { idPrefixes, type IdKind } from '@atrium/contract/tokens'
import type { Operation } from '@atrium/contract/operation'
import { servedOperations } from '@atrium/contract/table'

interface Route {
  method: string
  /** Matches the correct form of a path without its version. */
  pattern: RegExp
  versioned: boolean
  /** The path as in the contract. */
  template: string
}

const routes: Route[] = servedOperations.map(({ method, path, status }: Operation) => ({
  method,
  // recheck: the contract's own paths, each parameter one class of characters between two slashes.
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  versioned: status === 'live',
  template: path,
}))

const mcpMisspelt = /^(?:\/v1\/mcp|\/mcp\/|\/mcp\/sse|\/sse)$/i

/**
 * Explains what is wrong with an address that has no operation but is close to that of one: another method, a
 * missing or repeated version, slashes, capitals. The explanation derives from the contract alone, so it discloses
 * nothing about stored data.
 */
export function explainNotFound(method: string, url: string, spacesUrl: string): string | undefined {
  const path = pathOf(url)
  if (method !== 'POST' && /^(\/v1)?\/space$/.test(path))
    return `Rooms are opened at ${spacesUrl}/space. Here is the endpoint of the service alone: POST /v1/space.`
  if (mcpMisspelt.test(path)) return `There is nothing at ${shorten(path)}. Did you mean /mcp?`
  const plain = path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
  const bare = plain.replace(/^\/v\d{1,2}(?=\/)/i, '')
  const near = routes.filter(({ pattern }) => pattern.test(bare) || pattern.test(bare.toLowerCase()))
  if (near.length === 0) {
    const meant = nearest(bare)
    return meant && explainNotFound(method, versionOf(meant, method) + meant, spacesUrl) === undefined
      ? `There is nothing at ${shorten(path)}. Did you mean ${shorten(versionOf(meant, method) + meant)}?`
      : undefined
  }
  const route = near.find((one) => one.method === method)
  // A fixed path may also match the pattern of another.
  const methods = new Set(near.map((one) => one.method))
  if (!route) return `${method} is not a method of this path: use ${[...methods].join(' or ')}.`
  const spelled = route.pattern.test(bare) ? bare : bare.toLowerCase()
  const right = (route.versioned ? '/v1' : '') + spelled
  return right === path ? undefined : `There is nothing at ${shorten(path)}. Did you mean ${shorten(right)}?`
}

/**
 * The error for a value in a path that does not have the form of the expected id. It derives from the contract
 * alone: an id of the right form that does not exist has the same answer whether it never existed, was deleted or
 * belongs to another tenant. The error does not quote the value, because it may be a misplaced credential.
 */
export function notAnId(kind: IdKind, value: string): ApiError {
  const wanted = `an id of ${nouns[kind]}: ${idPrefixes[kind]} and 22 letters and digits`
  if (value === '') {
    const message = `The path ends with a slash where ${wanted} belongs. For the list, leave out the slash.`
    return new ApiError('not_found', { message })
  }
  const other = kinds.find((one) => value.startsWith(idPrefixes[one]))
  const what =
    other === kind
      ? 'The id in the path is incomplete or has other characters'
      : other
        ? `The id in the path is that of ${nouns[other]}`
        : 'The value in the path is not an id'
  return new ApiError('not_found', { message: `${what}. This path takes ${wanted}.` })
}

const kinds = namesOf(idPrefixes)

const nouns: Record<IdKind, string> = {
  tenant: 'a tenant',
  key: 'a key',
  collection: 'a collection',
  item: 'an item',
  artifact: 'an artifact',
  session: 'a session',
  agent: 'an agent',
  event: 'an event',
  transaction: 'a transaction',
  checkout: 'a checkout',
  request: 'a request',
  operatorCredential: 'an operator credential',
  auditEntry: 'an entry of the audit log',
  inviteEntry: 'an invite',
  member: 'a member',
  consoleSession: 'a session of the console',
  receipt: 'a receipt',
  ledgerAudit: 'an audit of the ledger',
  webhookEndpoint: 'a webhook endpoint',
}

/** The path of the contract of which this path is a typo: the same parameters, and one word that differs slightly. */
function nearest(path: string): string | undefined {
  const asked = path.split('/')
  if (asked.length > 12) return undefined
  for (const { template } of routes) {
    const parts = template.split('/')
    if (parts.length !== asked.length) continue
    const isNear = parts.every((part, i) => {
      const word = asked[i] ?? ''
      return part.startsWith('{') ? word !== '' : closest(word, [part]) === part
    })
    if (isNear) return parts.map((part, i) => (part.startsWith('{') ? asked[i] : part)).join('/')
  }
  return undefined
}

function versionOf(path: string, method: string): string {
  const route = routes.find((one) => one.pattern.test(path) && one.method === method)
  return (route ?? routes.find((one) => one.pattern.test(path)))?.versioned === false ? '' : '/v1'
}

/** Printable and short, because a path may contain anything. */
function shorten(path: string): string {
  const printable = path.replaceAll(/[^ -~]/g, '?')
  return printable.length > 120 ? `${printable.slice(0, 120)}…` : printable
}
