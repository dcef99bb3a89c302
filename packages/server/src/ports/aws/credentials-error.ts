/**
 * Thrown if no AWS credentials were found, or if their source does not answer. It has its own file so that checks
 * for it do not load the SDK.
 */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError'
}
