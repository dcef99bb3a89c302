/**
 * The provider's keys cannot be had, so nothing can be said about a token: the caller answers 503, never a rejection.
 */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'

  constructor(issuer: string, cause: unknown) {
    super(`No keys of the identity provider ${issuer} can be had`, { cause })
  }
}
