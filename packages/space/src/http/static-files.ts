import { hash } from 'node:crypto'
import type { Certificate } from '../certificate/certificate.ts'
import type { SpaceBuild } from '../certificate/space-build.ts'
import type { SpaceConfig } from '../space-config.ts'

export interface StaticFile {
  body: Uint8Array
  headers: Record<string, string>
}

const everywhere = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}
const readable = { 'access-control-allow-origin': '*' }

/** All static files, by path: the app, its configuration, the certificate and the published source. */
export function staticFiles(build: SpaceBuild, certificate: Certificate, config: SpaceConfig): Map<string, StaticFile> {
  const files = new Map<string, StaticFile>()
  const policy = contentSecurityPolicy(build, config)
  // The transparency log of the platform.
  const log = new URL('/log', config.apiUrl).href
  for (const { path, contentType, body } of build.app) {
    const page = path === '/space'
    files.set(path, {
      body,
      headers: {
        ...everywhere,
        'content-type': contentType,
        etag: etagOf(body),
        // Assets have a hash in their names, and the page names the assets that it uses.
        ...(page && {
          link: `<${log}/proof/app_page>; rel="https://c2sp.org/tlog-proof"`,
          'integrity-policy': 'blocked-destinations=(script)',
        }),
        'cache-control': page ? 'no-cache' : 'public, max-age=31536000, immutable',
        // A worker has the policy of its own script. It calls nothing.
        'content-security-policy': page ? policy : "default-src 'none'",
      },
    })
  }
  const { cert } = certificate
  const logged = hash('sha256', `\0${JSON.stringify({ type: 'certificate', ...cert })}`)
  files.set('/cert.json', json({ ...cert, log_proof: `${log}/proof/${logged}` }))
  if (certificate.client) files.set('/client.json', json(certificate.client))
  files.set('/space-config', json(spaceConfig(config)))
  files.set('/healthz', json({ status: 'ok' }))
  files.set('/source.tar.gz', {
    body: build.sourceArchive,
    headers: {
      ...everywhere,
      ...readable,
      'content-type': 'application/gzip',
      etag: etagOf(build.sourceArchive),
      'cache-control': 'no-cache',
    },
  })
  return files
}

/**
 * The configuration that the app loads first, with the public address of the endpoint, which the API's index names
 * too. The app itself calls its own origin, so that a room works while the API is unavailable.
 */
function spaceConfig({ spaceUrl, apiUrl, publishableKey, couponUrl, oidc }: SpaceConfig) {
  return {
    space_url: spaceUrl,
    api_url: apiUrl,
    publishable_key: publishableKey ?? null,
    ...(couponUrl === undefined ? {} : { coupon_url: couponUrl }),
    service: 'atrium-space',
    identity: oidc ? { issuer: oidc.issuer, client_id: oidc.clientId, label: oidc.label, development: oidc.development } : null,
  }
}

function json(value: object): StaticFile {
  const body = Buffer.from(JSON.stringify(value))
  return {
    body,
    headers: {
      ...everywhere,
      ...readable,
      'content-type': 'application/json; charset=utf-8',
      etag: etagOf(body),
      'cache-control': 'no-cache',
    },
  }
}

function etagOf(body: Uint8Array): string {
  return `"${hash('sha256', body, 'base64url').slice(0, 27)}"`
}

/** The contract's policy. Inline scripts of the page, if any, are allowed only by the hash of their bytes. */
function contentSecurityPolicy(build: SpaceBuild, { apiUrl, oidc }: SpaceConfig): string {
  const page = build.app.find(({ path }) => path === '/space')
  const inline = page ? inlineScriptHashes(Buffer.from(page.body).toString()) : []
  const connect = [new URL(apiUrl).origin, ...(oidc ? [new URL(oidc.issuer).origin] : [])]
  return [
    "default-src 'none'",
    `connect-src 'self' blob: ${[...new Set(connect)].join(' ')}`,
    `script-src 'self' ${inline.map((digest) => `'sha256-${digest}' `).join('')}'wasm-unsafe-eval'`,
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "font-src 'self'",
    "manifest-src 'self'",
    "form-action 'none'",
    "object-src 'none'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
}

function inlineScriptHashes(html: string): string[] {
  return html
    .split('<script')
    .slice(1)
    .map((element) => ({ start: element.indexOf('>'), end: element.indexOf('</script>'), element }))
    .filter(({ start, element }) => !/\bsrc=/.test(element.slice(0, start)))
    .map(({ start, end, element }) => hash('sha256', element.slice(start + 1, end), 'base64'))
}
