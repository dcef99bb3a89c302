import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import { usesDevelopmentIdentity } from './development-identity/development-issuer.ts'
import type { DevelopmentKeys } from '#features/tenants/open-tenant.ts'

interface Welcome {
  config: Config
  secrets: Secrets
  developmentKeys: DevelopmentKeys | undefined
  embedded: boolean
  /** No tenant was made yet. */
  isFirst: boolean
  space: boolean
}

const adminCommand = 'npm run -s atrium -- '

/** Says where everything is and what to paste first. */
export function printBanner({ config, secrets, developmentKeys, embedded, isFirst, space }: Welcome): void {
  const { publicUrl } = config
  const lines = [
    '',
    `Atrium is running at ${publicUrl}`,
    `  API          ${publicUrl}/v1`,
    ...(space ? [`  rooms        ${config.spacesUrl}/space`] : []),
    `  docs         ${publicUrl}/docs`,
    `  OpenAPI      ${publicUrl}/openapi.json`,
    `  health       ${publicUrl}/readyz`,
    ...(usesDevelopmentIdentity(config) ? [`  sign-in      ${config.oidc.issuer} (development: accepts any address)`] : []),
    ...(embedded ? [`  data         ${config.dataDir}`] : []),
    ...secrets.madeFiles.map((path) => `  made once    ${path} (keep it)`),
  ]
  if (config.egress === 'loopback') {
    lines.push(
      '',
      'WARNING: ATRIUM_EGRESS=loopback. Webhooks, agents and tools of every tenant can reach this machine by http. For development only.',
    )
  }
  if (developmentKeys) {
    lines.push(
      '',
      'A development tenant was made. Its keys are shown only this once:',
      `  secret       ${developmentKeys.secretKey}`,
      `  publishable  ${developmentKeys.publishableKey}`,
      '',
      'Make a collection:',
      `  curl -s ${publicUrl}/v1/collections -H 'Authorization: Bearer ${developmentKeys.publishableKey}' \\`,
      `    -H 'Content-Type: application/json' -d '{"metadata":{"share_title":"Hello"}}'`,
    )
  } else if (embedded && !config.production) {
    lines.push('', `The keys were printed at the first start. New ones: ${adminCommand}tenants create --name "My app"`)
  }
  if (embedded && !config.production && space) {
    lines.push('', 'See it at work, and get a link into a room: npm run demo')
  }
  if (config.production && isFirst) {
    lines.push(
      '',
      'There is no tenant yet. Make one; its keys are printed once:',
      `  ${adminCommand}tenants create --name "My app"`,
      'Or an invite, with which somebody else signs up:',
      `  ${adminCommand}invites create`,
    )
  }
  console.log(`${lines.join('\n')}\n`)
}
