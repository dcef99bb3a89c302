import type { Config } from '#config/config.ts'
import { isLoopbackHost } from '#http/from-this-machine.ts'

export const developmentPath = '/dev-identity'
const clientId = 'atrium-dev'
const consoleClientId = 'atrium-dev-console'

/** With `oidc` and `consoleOidc` as the operator configured them. */
type Situation = Pick<Config, 'production' | 'publicUrl' | 'consoleUrl' | 'databaseUrl' | 'oidc' | 'consoleOidc'>

/** A public client of the development sign-in. */
export interface DevelopmentClient {
  clientId: string
  redirectUris: string[]
}

export function developmentIssuer(publicUrl: string): string {
  return publicUrl + developmentPath
}

/**
 * Returns the issuer to trust: the configured one; else the development issuer, if nothing is configured and this
 * start creates a development tenant; else none. The development issuer needs a single API process, because it keeps
 * its codes in memory.
 */
export function chooseOidc(situation: Omit<Situation, 'consoleUrl' | 'consoleOidc'>, workers: number): Situation['oidc'] {
  const { oidc, publicUrl } = situation
  if (oidc) return oidc
  return isForDevelopment(situation, workers) ? { issuer: developmentIssuer(publicUrl), clientId } : undefined
}

/**
 * The same for the members of the console, with a client of its own: a token for rooms does not open the console. The
 * console must be on loopback too, because the development sign-in accepts every address.
 */
export function chooseConsoleOidc(situation: Omit<Situation, 'oidc'>, workers: number): Situation['consoleOidc'] {
  const { consoleOidc, publicUrl, consoleUrl } = situation
  if (consoleOidc) return consoleOidc
  return isForDevelopment(situation, workers) && isPlainLoopback(consoleUrl)
    ? { issuer: developmentIssuer(publicUrl), clientId: consoleClientId, clientSecret: undefined }
    : undefined
}

function isForDevelopment(
  { production, publicUrl, databaseUrl }: Pick<Situation, 'production' | 'publicUrl' | 'databaseUrl'>,
  workers: number,
): boolean {
  return !production && databaseUrl === undefined && workers === 1 && isPlainLoopback(publicUrl)
}

/** Whether the development sign-in is the provider of this part: of rooms (`oidc`) or of the console. */
export function isDevelopmentIssuer(config: Pick<Situation, 'publicUrl'>, provider: { issuer: string } | undefined): boolean {
  return provider?.issuer === developmentIssuer(config.publicUrl)
}

/** The clients that this configuration gives to the development sign-in; empty: it is not used. */
export function developmentClients(
  config: Pick<Situation, 'publicUrl' | 'consoleUrl' | 'oidc' | 'consoleOidc'> & { spacesUrl: string },
): DevelopmentClient[] {
  const { publicUrl, spacesUrl, consoleUrl, oidc, consoleOidc } = config
  const clients: DevelopmentClient[] = []
  if (oidc && isDevelopmentIssuer(config, oidc))
    clients.push({ clientId: oidc.clientId, redirectUris: [`${spacesUrl}/space`, `${publicUrl}/space`] })
  if (consoleOidc && isDevelopmentIssuer(config, consoleOidc))
    clients.push({ clientId: consoleOidc.clientId, redirectUris: [`${consoleUrl}/console/oidc/callback`] })
  return clients
}

/** An origin such as http://localhost:8787. */
export function isPlainLoopback(publicUrl: string): boolean {
  const { protocol, host, origin } = new URL(publicUrl)
  return protocol === 'http:' && origin === publicUrl && isLoopbackHost(host)
}
