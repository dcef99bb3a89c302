import type { Static } from 'typebox'
import type { ToolDecl } from '@atrium/contract/agent-schemas'
import { invalid } from '#errors/api-error.ts'
import type { Tool } from './agent.ts'
import { assertToolParameters } from './tool-parameters.ts'
import { secretKey, toolKey } from './tool-secrets.ts'

interface Declared {
  tools: Tool[]
  /** By secretKey. */
  secrets: Map<string, string>
}

/** Gives the address as it is to be stored; throws 400 where it may not be called. */
type CheckAddress = (text: string, path: string) => string

/**
 * Takes declared tools apart into what is shown and what is secret. A tool that was there before at the same origin and comes without a secret
 * keeps its own.
 */
export function declareTools(
  declarations: Static<typeof ToolDecl>[],
  secretsBefore: ReadonlyMap<string, string>,
  checkAddress: CheckAddress,
): Declared {
  const declared: Declared = { tools: [], secrets: new Map() }
  const taken = new Set<string>()
  for (const [i, declaration] of declarations.entries()) {
    const path = `/tools/${i}`
    const open = openPart(declaration, path, checkAddress)
    const key = toolKey(open)
    if (taken.has(key)) throw invalid(path, 'another tool has the same name or MCP address')
    taken.add(key)
    // null takes it away.
    const secret = declaration.secret === undefined ? secretsBefore.get(secretKey(open)) : declaration.secret
    if (typeof secret === 'string') declared.secrets.set(secretKey(open), secret)
    declared.tools.push({ ...open, has_secret: typeof secret === 'string' })
  }
  return declared
}

function openPart(declaration: Static<typeof ToolDecl>, path: string, checkAddress: CheckAddress): Omit<Tool, 'has_secret'> {
  if ('mcp' in declaration) return { mcp: checkAddress(declaration.mcp, `${path}/mcp`) }
  const { name, description, parameters, url } = declaration
  assertToolParameters(parameters, `${path}/parameters`)
  return { name, description, parameters, url: checkAddress(url, `${path}/url`) }
}
