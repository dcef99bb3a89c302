export type EgressReason = 'refused_address' | 'refused_url' | 'dns' | 'connect' | 'tls' | 'timeout' | 'protocol'

/** Why nothing, or nothing whole, came back. The message may be shown to a tenant: it holds nothing of an answer and no resolved address. */
export class EgressError extends Error {
  override readonly name = 'EgressError'
  readonly reason: EgressReason

  constructor(reason: EgressReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
