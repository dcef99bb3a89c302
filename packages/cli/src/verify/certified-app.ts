import { isJsonObject, parseStrictJson } from '@atrium/contract/strict-json'
import { CheckFailed } from './report.ts'

/** A file of the app in the bundle. */
export interface CertifiedFile {
  readonly path: string
  readonly body: Buffer
}

const MODULE = '// embedded:atrium:embedded\n'
const MAX_FILES = 1_000

/**
 * Reads the app's files from a bundle, in which packages/space/build/bundle.ts stores them as JSON. Throws if the page
 * is missing.
 */
export function readAppOfBundle(bundle: Uint8Array): CertifiedFile[] {
  const files = readFiles(findJson(Buffer.from(bundle).toString()))
  if (!files) throw new CheckFailed('the app cannot be found in the certified code')
  if (files.length === 0) throw new CheckFailed('the certified code contains no files of the app')
  if (files.length > MAX_FILES) throw new CheckFailed(`the certified code contains more than ${MAX_FILES} files of the app`)
  if (new Set(files.map(({ path }) => path)).size < files.length) {
    throw new CheckFailed('the certified code contains a file of the app twice')
  }
  if (!files.some(({ path }) => path === '/space'))
    throw new CheckFailed('the certified code contains no page: /space is missing')
  return files
}

/** The list in `var app = […];`, in the first lines of the module that the build generates. */
function findJson(code: string): string | undefined {
  const start = code.startsWith(MODULE) ? 0 : code.indexOf(`\n${MODULE}`) + 1
  if (start === 0 && !code.startsWith(MODULE)) return undefined
  if (code.indexOf(`\n${MODULE}`, start) !== -1) throw new CheckFailed('the certified code contains the app twice')
  let at = start + MODULE.length
  for (let line = 0; line < 4; line++) {
    const end = code.indexOf('\n', at)
    const text = code.slice(at, end === -1 ? undefined : end)
    const [assignment] = /^var app\d{0,9} = (?=\[)/.exec(text.slice(0, 40)) ?? []
    if (assignment && text.endsWith('];')) return text.slice(assignment.length, -1)
    if (end === -1) return undefined
    at = end + 1
  }
  return undefined
}

function readFiles(json: string | undefined): CertifiedFile[] | undefined {
  if (json === undefined) return undefined
  const rows = parse(json)
  const files = rows?.flatMap((row) => {
    const { path, body } = isJsonObject(row) ? row : {}
    const isFile = typeof path === 'string' && typeof body === 'string' && /^\/space(?:\/[A-Za-z0-9_.-]{1,100}){0,9}$/.test(path)
    return isFile ? [{ path, body: Buffer.from(body, 'base64') }] : []
  })
  return files?.length === rows?.length ? files : undefined
}

function parse(json: string): unknown[] | undefined {
  try {
    const rows = parseStrictJson(json)
    return Array.isArray(rows) ? rows : undefined
  } catch {
    return undefined
  }
}
