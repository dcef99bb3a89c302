import { admit, type Credentials, type RejectionReason, type ListStatus } from '@atrium/identity/admit'
import { ProviderKeys } from '@atrium/identity/provider-keys'
import { ProviderUnavailable } from '@atrium/identity/provider-unavailable'
import type { Config } from '#config/config.ts'
import { ApiError } from '#errors/api-error.ts'
import { fetchJson } from './fetch-json.ts'

/** Checks an ID token and the device key it is bound to, as the Space service does. */
export interface IdentityCheck {
  /**
   * Why the caller has no access; undefined if they have. The list status is read only after token and key are
   * verified.
   */
  refusalOf(credentials: Credentials, findStatus: (email: string) => ListStatus): Promise<RejectionReason | undefined>
}

export function openIdentityCheck({ issuer, clientId }: NonNullable<Config['oidc']>): IdentityCheck {
  const keys = new ProviderKeys({ issuer, fetchJson })
  return {
    refusalOf: async (credentials, findStatus) => {
      try {
        const admission = await admit(credentials, { keys, issuer, audience: clientId, nowMs: Date.now() }, async ({ email }) =>
          findStatus(email),
        )
        return admission.ok ? undefined : admission.reason
      } catch (error) {
        if (!(error instanceof ProviderUnavailable)) throw error
        throw new ApiError('unavailable', {
          message: 'The identity provider cannot be reached.',
          retryAfterSeconds: 30,
          cause: error,
        })
      }
    },
  }
}
