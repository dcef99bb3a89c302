/**
 * The provider's keys are not available, so a token cannot be checked. The caller answers 503, and does not reject
 * the token.
 */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'

  constructor(issuer: string, cause: unknown) {
    super(`No keys of the identity provider ${issuer} can be had`, { cause })
  }
}
