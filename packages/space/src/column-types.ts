import type { ReadColumn } from '@atrium/traffic/postgres/answer'

const integer = 23

/**
 * Integers become numbers. All other columns stay text, including bigint, because the service reads no other types.
 */
export const readColumn: ReadColumn = (oid) => (oid === integer ? Number : (text) => text)
