import { isJsonObject } from '@atrium/contract/strict-json'
import { sha256 } from './certificate.ts'
import { findPolicyProblems, inlineHashes, parsePolicy } from './content-security-policy.ts'
import { type Downloaded, type Downloads, PAGE, PAGE_FILE, SMALL } from './download.ts'
import { findScripts, type PageScripts } from './html-scripts.ts'
import type { CertifiedFile } from './certified-app.ts'
import { CheckFailed, type Report } from './report.ts'

/**
 * Checks the app's page: its policy and, with the certified code, that the page and its files are the certified ones.
 */
export async function checkPage(
  report: Report,
  downloads: Downloads,
  certified: readonly CertifiedFile[] | undefined,
): Promise<void> {
  const page = await report.check('the app at /space', () => downloads.get('/space', PAGE))
  if (!page) return
  const scripts = await report.check('reading the page', () => readPage(page))
  await report.check("the page's Content-Security-Policy", async () => {
    const header = page.headers.get('content-security-policy') ?? ''
    const connect = await findConnectOrigins(downloads)
    const directives = parsePolicy(header)
    if (!directives) throw new CheckFailed('there must be one policy, with every directive once')
    const problems = findPolicyProblems(directives, downloads.origin, connect)
    if (problems.length > 0) throw new CheckFailed(problems.join('; '))
    const others = connect.length > 0 ? ` and to ${connect.join(' and ')}` : ''
    report.proved(`the page may run only scripts of its own, and talk only to its own origin${others}`)
    if (scripts) assertInlineScripts(scripts, inlineHashes(directives))
  })
  if (!scripts) return
  await report.check("the page's scripts", async () => {
    const files = findFiles(scripts, downloads.origin)
    if (certified) await compareWithCertified(report, downloads, certified, files)
    else report.notChecked(`that the page and its ${files.length} scripts are those in the certified code (--rebuild does)`)
  })
}

/** Requires UTF-8, because in another encoding the browser would read another page. */
function readPage({ bytes, headers }: Downloaded): PageScripts {
  const type = headers.get('content-type') ?? 'none'
  if (!/^text\/html; ?charset="?utf-8"?$/i.test(type)) {
    throw new CheckFailed(`its Content-Type must be text/html; charset=utf-8, not ${type}`)
  }
  try {
    return findScripts(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof TypeError) throw new CheckFailed('it is not UTF-8')
    throw error
  }
}

/** The origins of the API and the identity provider, from the service's configuration. */
async function findConnectOrigins(downloads: Downloads): Promise<string[]> {
  const { api_url: api, identity } = await downloads.getJson('/space-config', SMALL)
  const issuer = isJsonObject(identity) ? identity['issuer'] : undefined
  const origins = [api, issuer].filter((url) => url !== undefined && url !== null)
  return [...new Set(origins.map(originOf))].filter((other) => other !== downloads.origin)
}

function originOf(url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url)) throw new CheckFailed('/space-config names no address of API or issuer')
  return new URL(url).origin
}

/**
 * A browser runs an inline script only if its hash is in the policy. A hash without a script would allow a hidden
 * script.
 */
function assertInlineScripts({ inline }: PageScripts, allowed: readonly string[]): void {
  const found = new Set(inline.map((text) => sha256(Buffer.from(text))))
  for (const hash of found)
    if (!allowed.includes(hash)) throw new CheckFailed(`an inline script (SHA-256 ${hash}) is not in the policy`)
  for (const hash of allowed)
    if (!found.has(hash)) throw new CheckFailed(`it allows an inline script that the page does not have: ${hash}`)
}

/** The unique URLs that the page loads. */
function findFiles({ files }: PageScripts, origin: string): string[] {
  const urls = files.map((file) => {
    // A browser would read &#46; as a dot.
    if (file.includes('&')) throw new CheckFailed(`it loads ${file}, which has a character reference in it`)
    const url = URL.canParse(file, `${origin}/space`) ? new URL(file, `${origin}/space`).href : file
    if (!url.startsWith(`${origin}/`)) throw new CheckFailed(`it loads ${url}, which is not its own`)
    return url
  })
  return [...new Set(urls)]
}

async function compareWithCertified(
  report: Report,
  downloads: Downloads,
  certified: readonly CertifiedFile[],
  scripts: readonly string[],
): Promise<void> {
  const paths = new Set(certified.map(({ path }) => `${downloads.origin}${path}`))
  for (const url of scripts) if (!paths.has(url)) throw new CheckFailed(`${url} is not in the certified code`)
  for (const { path, body } of certified) {
    const { bytes } = await downloads.get(path, PAGE_FILE)
    if (!bytes.equals(body)) throw new CheckFailed(`${path} is served with other bytes than the certified code contains`)
  }
  report.proved(`the page and all its files (${certified.length}) are, byte for byte, those in the certified code`)
}
