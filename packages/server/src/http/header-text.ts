import { invalid } from '#errors/api-error.ts'

/** What no field value has (RFC 9110, 5.5). */
const control = /[\0-\x08\n-\x1f\x7f]/

/**
 * Throws 400 for a credential with a control character, which no HTTP header can carry, such as a line break that was
 * pasted. Characters that are not ASCII cannot be sent either, but are accepted: they are in the examples of the contract.
 */
export function assertHeaderText(text: string, path: string): void {
  if (control.test(text)) throw invalid(path, 'has a line break or another control character')
}
