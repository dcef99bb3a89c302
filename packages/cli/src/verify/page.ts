import { sha256 } from './certificate.ts'
import { findPolicyProblems, inlineHashes, parsePolicy } from './content-security-policy.ts'
import { download, downloadJson, PAGE_FILE, SMALL } from './download.ts'
import type { CertifiedFile } from './rebuild.ts'
import { CheckFailed, type Report } from './report.ts'

/** The app's page: what its policy lets it do, and, against the certified code, that it and its files are what was certified. */
export async function checkPage(report: Report, origin: string, certified: readonly CertifiedFile[] | undefined): Promise<void> {
  const page = await report.check('the app at /space', () => download(`${origin}/space`, PAGE_FILE))
  if (!page) return
  const html = page.bytes.toString()
  await report.check("the page's Content-Security-Policy", async () => {
    const header = page.headers.get('content-security-policy') ?? ''
    const connect = await findConnectOrigins(origin)
    const directives = parsePolicy(header)
    if (!directives) throw new CheckFailed('there must be one policy, with every directive once')
    const problems = findPolicyProblems(directives, origin, connect)
    if (problems.length > 0) throw new CheckFailed(problems.join('; '))
    const others = connect.length > 0 ? ` and to ${connect.join(' and ')}` : ''
    report.proved(`the page may run only scripts of its own, and talk only to its own origin${others}`)
    assertInlineScripts(html, inlineHashes(directives))
  })
  await report.check("the page's scripts", async () => {
    const scripts = findScriptFiles(html, `${origin}/space`)
    for (const url of scripts) {
      if (!url.startsWith(`${origin}/`)) throw new CheckFailed(`it loads ${url}, which is not its own`)
    }
    if (certified) await compareWithCertified(report, origin, certified, scripts)
    else report.notChecked(`that the page and its ${scripts.length} scripts are those in the certified code (--rebuild does)`)
  })
}

/** The API and the identity provider, as the service itself says. */
async function findConnectOrigins(origin: string): Promise<string[]> {
  const { api_url: api, identity } = await downloadJson(`${origin}/space-config`, SMALL)
  const issuer = (identity as { issuer?: unknown } | null | undefined)?.issuer
  const origins = [api, issuer].filter((url) => url !== undefined && url !== null)
  return [...new Set(origins.map(originOf))].filter((other) => other !== origin)
}

function originOf(url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url)) throw new CheckFailed('/space-config names no address of API or issuer')
  return new URL(url).origin
}

const SCRIPT = /<script\b([^>]*)>([\s\S]*?)<\/script\s*>/gi

/** The browser runs an inline script only when its hash is in the policy. What else the policy has a hash for is a script kept back. */
function assertInlineScripts(html: string, allowed: readonly string[]): void {
  const inline = [...html.matchAll(SCRIPT)].filter(([, attributes]) => !sourceOf(attributes!))
  const found = new Set(inline.map(([, , text]) => sha256(Buffer.from(text!))))
  for (const hash of found)
    if (!allowed.includes(hash)) throw new CheckFailed(`an inline script (SHA-256 ${hash}) is not in the policy`)
  for (const hash of allowed)
    if (!found.has(hash)) throw new CheckFailed(`it allows an inline script that the page has not: ${hash}`)
}

function findScriptFiles(html: string, base: string): string[] {
  const scripts = [...html.matchAll(SCRIPT)].map(([, attributes]) => sourceOf(attributes!))
  const preloads = [...html.matchAll(/<link\b([^>]*)>/gi)]
    .filter(([, attributes]) => /\brel\s*=\s*["']?(?:modulepreload|preload)\b/i.test(attributes!))
    .map(([, attributes]) => /\bhref\s*=\s*["']?([^"'\s>]+)/i.exec(attributes!)?.[1])
  const found = [...scripts, ...preloads].filter((url) => url !== undefined)
  return [...new Set(found.map((url) => (URL.canParse(url, base) ? new URL(url, base).href : url)))]
}

function sourceOf(attributes: string): string | undefined {
  return /(?:^|\s)src\s*=\s*["']?([^"'\s>]+)/i.exec(attributes)?.[1]
}

async function compareWithCertified(
  report: Report,
  origin: string,
  certified: readonly CertifiedFile[],
  scripts: readonly string[],
): Promise<void> {
  const paths = new Set(certified.map(({ path }) => `${origin}${path}`))
  for (const url of scripts) if (!paths.has(url)) throw new CheckFailed(`${url} is not in the certified code`)
  for (const { path, body } of certified) {
    const { bytes } = await download(`${origin}${path}`, PAGE_FILE)
    if (!bytes.equals(body)) throw new CheckFailed(`${path} is not served as the certified code holds it`)
  }
  report.proved(`the page and all its files (${certified.length}) are, byte for byte, those in the certified code`)
}
