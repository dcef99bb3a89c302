import type { CustomTypesConfig } from 'pg'

const integer = 23

/**
 * Integers become numbers. All other columns stay text, bigint too. The service returns no other types, and pg's own parsers are not in the
 * bundle (build/left-out.ts).
 */
export const columnTypes: CustomTypesConfig = {
  getTypeParser: (oid: number) => (oid === integer ? Number : (text: string) => text),
}
