import type { Config } from '#config/config.ts'
import type { Secrets } from '#config/secrets.ts'
import { developmentClients, developmentIssuer } from './development-identity/development-issuer.ts'
import type { DevelopmentKeys } from '#features/tenants/open-tenant.ts'

interface Welcome {
  config: Config
  secrets: Secrets
  developmentKeys: DevelopmentKeys | undefined
  /** Signs in to the console of the development tenant, once. */
  consoleLink: string | undefined
  embedded: boolean
  /** The database has no tenant. */
  isFirst: boolean
  space: boolean
}

/** Where npm did not start it, as in a container, there may be no npm. */
const adminCommand = process.env['npm_lifecycle_event'] === undefined ? 'atrium ' : 'npm run -s atrium -- '

/** Prints the addresses of the parts, and the first commands to try. */
export function printBanner({ config, secrets, developmentKeys, consoleLink, embedded, isFirst, space }: Welcome): void {
  const { publicUrl } = config
  // Commands find the server and its operator token through the same variables.
  const set = ['PORT', 'ATRIUM_DATA_DIR', 'ATRIUM_PUBLIC_URL'].filter((name) => process.env[name])
  const sameSettings = set.length > 0 ? ` (with the same ${set.join(', ')})` : ''
  // Whoever has upgraded, and finds an empty installation, sees where this one looked.
  const isNew = isFirst || developmentKeys !== undefined
  const lines = [
    '',
    `Atrium is running at ${publicUrl}`,
    `  API          ${publicUrl}/v1`,
    ...(space ? [`  rooms        ${config.spacesUrl}/space`] : []),
    `  docs         ${publicUrl}/docs`,
    `  OpenAPI      ${publicUrl}/openapi.json`,
    `  health       ${publicUrl}/readyz`,
    ...(developmentClients(config).length > 0
      ? [`  sign-in      ${developmentIssuer(publicUrl)} (development: accepts any address; the console admits members only)`]
      : []),
    ...(embedded
      ? [
          `  data         ${config.dataDir}${isNew ? ' (new and empty; to use existing data, set ATRIUM_DATA_DIR to its folder)' : ''}`,
        ]
      : []),
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
      'A development tenant was created. Its keys are shown only this once:',
      `  secret       ${developmentKeys.secretKey}`,
      `  publishable  ${developmentKeys.publishableKey}`,
      '',
      'Make a collection:',
      `  curl -s ${publicUrl}/v1/collections -H 'Authorization: Bearer ${developmentKeys.publishableKey}' \\`,
      `    -H 'Content-Type: application/json' -d '{"metadata":{"share_title":"Hello"}}'`,
    )
  } else if (embedded && !config.production) {
    lines.push(
      '',
      `The keys were printed at the first start. To create new ones: ${adminCommand}tenants create --name "My app"${sameSettings}`,
    )
  }
  if (consoleLink !== undefined) {
    lines.push('', 'Open the console. The link works once, within 10 minutes:', `  ${consoleLink}`)
  }
  if (embedded && !config.production && space) {
    lines.push('', `See it at work, and get a link into a room: npm run demo${sameSettings}`)
  }
  if (config.production && isFirst) {
    lines.push(
      '',
      'There is no tenant yet. Create one; its keys are printed once:',
      `  ${adminCommand}tenants create --name "My app"`,
      'Or create an invite, so that somebody else can sign up:',
      `  ${adminCommand}invites create`,
    )
  }
  console.log(`${lines.join('\n')}\n`)
}
