// The package has no types. This declares the part of it that oidc-provider.ts uses.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  interface OidcContext {
    oidc: {
      provider: { Grant: new (of: { clientId: string; accountId: string }) => Grant }
      client: { clientId: string }
      session: { accountId: string }
    }
  }

  interface Account {
    accountId: string
    claims(): Promise<Record<string, unknown>>
  }

  interface Configuration {
    clients: object[]
    jwks: { keys: object[] }
    cookies: { keys: string[] }
    claims: Record<string, string[]>
    conformIdTokenClaims: boolean
    pkce: { required(): boolean }
    clientBasedCORS(ctx: OidcContext, origin: string): boolean
    features: Record<string, { enabled: boolean }>
    interactions: { url(ctx: OidcContext, interaction: { uid: string }): string }
    findAccount(ctx: OidcContext, id: string): Account
    loadExistingGrant(ctx: OidcContext): Promise<Grant>
    ttl: Record<string, number>
  }

  export default class Provider {
    constructor(issuer: string, configuration: Configuration)
    callback(): (req: IncomingMessage, res: ServerResponse) => Promise<void>
    interactionDetails(req: IncomingMessage, res: ServerResponse): Promise<{ params: Record<string, unknown> }>
    interactionFinished(
      req: IncomingMessage,
      res: ServerResponse,
      result: { login: { accountId: string } },
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>
  }
}
