/** connect: no connection was made. lost: it ended before the answer was complete, so the request may have arrived. */
export type EgressReason = 'refused_address' | 'refused_url' | 'dns' | 'connect' | 'tls' | 'lost' | 'timeout' | 'protocol'

/** With these, the request did not leave this machine. */
export const unsentReasons: ReadonlySet<EgressReason> = new Set(['refused_address', 'refused_url', 'dns', 'connect', 'tls'])

/**
 * Why there is no complete response. The message may be shown to a tenant: it contains neither response data nor a
 * resolved address.
 */
export class EgressError extends Error {
  override readonly name = 'EgressError'
  readonly reason: EgressReason

  constructor(reason: EgressReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
