import { isLoopbackHost } from './from-this-machine.ts'

export const developmentPath = '/dev-identity'
const clientId = 'atrium-dev'

interface Situation {
  production: boolean
  /** Origin of the API. */
  publicUrl: string
  databaseUrl: string | undefined
  /** The issuer that the operator configured. */
  oidc: { issuer: string; clientId: string } | undefined
}

export function developmentIssuer(publicUrl: string): string {
  return publicUrl + developmentPath
}

/**
 * Returns the issuer to trust: the configured one; else the development issuer, if nothing is configured and this
 * start creates a development tenant; else none. The development issuer needs a single API process, because it keeps
 * its codes in memory.
 */
export function chooseOidc({ production, publicUrl, databaseUrl, oidc }: Situation, workers: number): Situation['oidc'] {
  if (oidc) return oidc
  const isForDevelopment = !production && databaseUrl === undefined && workers === 1 && isPlainLoopback(publicUrl)
  return isForDevelopment ? { issuer: developmentIssuer(publicUrl), clientId } : undefined
}

export function usesDevelopmentIdentity<T extends Pick<Situation, 'publicUrl' | 'oidc'>>(
  config: T,
): config is T & { oidc: NonNullable<T['oidc']> } {
  return config.oidc?.issuer === developmentIssuer(config.publicUrl)
}

/** An origin such as http://localhost:8787. */
export function isPlainLoopback(publicUrl: string): boolean {
  const { protocol, host, origin } = new URL(publicUrl)
  return protocol === 'http:' && origin === publicUrl && isLoopbackHost(host)
}
