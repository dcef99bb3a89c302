import { invalid } from '#errors/api-error.ts'

/** The characters of a field value (RFC 9110, 5.5). */
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Throws 400 for a credential that no HTTP header can carry, such as one that was pasted with a line break. */
export function assertHeaderText(text: string, path: string): void {
  if (!fieldValue.test(text)) throw invalid(path, 'has a line break, or a character that an HTTP header cannot carry')
}
