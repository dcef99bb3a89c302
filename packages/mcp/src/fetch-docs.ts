import { readAtMost } from '@atrium/contract/joined-pieces'
import { isJsonObject } from '@atrium/contract/strict-json'
import type { DocsSection } from './search-docs.ts'
import { ToolError } from './tool.ts'

const maxBytes = 4 * 1024 * 1024
const timeoutMs = 15_000

/** The guides of an installation; empty if its version does not serve them in this form. */
export async function fetchDocs(publicUrl: string): Promise<DocsSection[]> {
  const signal = AbortSignal.timeout(timeoutMs)
  // Not 'error': with it, fetch of Node 20 can lose the signal after the headers have arrived.
  const res = await fetch(`${publicUrl}/docs/sections.json`, { signal, redirect: 'manual' }).catch(() => undefined)
  if (res?.status === 404) return []
  if (!res?.ok) throw new ToolError(`The documentation at ${publicUrl}/docs cannot be reached.`)
  const sections: unknown = JSON.parse(await boundedText(res))
  return Array.isArray(sections) ? sections.filter(isSection) : []
}

function isSection(value: unknown): value is DocsSection {
  return isJsonObject(value) && [value['path'], value['title'], value['text']].every((field) => typeof field === 'string')
}

async function boundedText(res: Response): Promise<string> {
  const bytes = await readAtMost(res.body, maxBytes)
  if (!bytes) throw new ToolError('The documentation of this installation is larger than this server reads.')
  return bytes.toString()
}
