import { nullable } from '@atrium/contract/schemas'
import { Type } from '@atrium/contract/type'
import type { Static, TSchema } from 'typebox'
import { Errors } from '#libraries/typebox-schema.js'

export const backupFormat = 'atrium-backup/1'

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Count = Type.Integer({ minimum: 0 })
const Name = Type.String({ minLength: 1, maxLength: 200 })
/** A name that is printed before it is compared with anything. */
const PlainName = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,200}$' })
const Time = Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z$' })

/** An object with a value for each name. */
function byName<Value extends TSchema>(value: Value) {
  return Type.Unsafe<Record<string, Static<Value>>>({ type: 'object', propertyNames: Name, additionalProperties: value })
}

/** header.json, the first file of an archive: what a restore needs before it begins. */
const Header = Type.Object({
  format: Type.Literal(backupFormat),
  /** RFC 3339, by the database's clock. Everything that was acknowledged before this time is in the archive. */
  snapshot_at: Time,
  migrations: Type.Array(Type.Object({ name: PlainName, sha256: Name })),
  /** The columns of each table in the archive, in the order of its data. */
  tables: byName(Type.Array(Name, { minItems: 1 })),
  /** The last value of each sequence; null where none was used. */
  sequences: byName(nullable(Type.Integer())),
  keys: Type.Object({
    /** The ids of the master keys under which values in the archive are sealed. They are hashes, and not secret. */
    master: Type.Array(PlainName),
    /** The one of them that every start needs. Absent: the archive is of a release that did not record it. */
    check: Type.Optional(PlainName),
    /**
     * Other ids, under which only stored answers of requests with an Idempotency-Key are sealed. Absent: the archive is of
     * a release that listed them with the others.
     */
    answers: Type.Optional(Type.Array(PlainName)),
    /**
     * The RFC 7638 thumbprint of Space's signing key. null: the backup ran where the key is not. Absent: the archive is
     * of a release that did not record it.
     */
    space: Type.Optional(nullable(Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }))),
  }),
  blobs: Type.Boolean(),
})
export type BackupHeader = Static<typeof Header>

/** manifest.json, the last file of an archive: an archive without it is incomplete. */
const Manifest = Type.Object({
  format: Type.Literal(backupFormat),
  snapshot_at: Time,
  /** `sha256` and `bytes` are those of a table's uncompressed data, from all its files. */
  tables: byName(Type.Object({ rows: Count, bytes: Count, sha256: Sha256 })),
  /**
   * `sha256` is that of all files in blob-lists/, which contain the SHA-256 of each blob. null: the archive has no
   * blobs.
   */
  blobs: nullable(Type.Object({ count: Count, bytes: Count, sha256: Sha256 })),
})
export type BackupManifest = Static<typeof Manifest>

/** Throws unless the value is a header that `atrium backup` writes. */
export function parseHeader(json: string): BackupHeader {
  const header: unknown = JSON.parse(json)
  const format = (header as { format?: unknown } | null)?.format
  if (format !== backupFormat) throw new Error(`its format is ${JSON.stringify(format)}, and this atrium reads ${backupFormat}`)
  assertFits(headerName, Header, header)
  if (Number.isNaN(Date.parse(header.snapshot_at))) throw wrongValue(headerName, '/snapshot_at')
  return header
}

/** Throws unless the value is a manifest that `atrium backup` writes. */
export function parseManifest(json: string): BackupManifest {
  const manifest: unknown = JSON.parse(json)
  assertFits(manifestName, Manifest, manifest)
  return manifest
}

function assertFits<Schema extends TSchema>(name: string, schema: Schema, value: unknown): asserts value is Static<Schema> {
  const [isValid, errors] = Errors(schema, value)
  if (!isValid) throw wrongValue(name, errors[0]?.instancePath ?? '')
}

function wrongValue(name: string, place: string): Error {
  return new Error(`${name} has a wrong value at ${place.slice(0, 200) || '/'}`)
}

/** A line of a file in blob-lists/. Each file follows the blobs that it lists. */
export interface ListedBlob {
  key: string
  bytes: number
  sha256: string
}

export const headerName = 'header.json'
export const manifestName = 'manifest.json'
export const tablesFolder = 'tables/'
export const blobsFolder = 'blobs/'
export const blobListsFolder = 'blob-lists/'

/** tables/items/000001.copy.gz: rows in the text format of COPY, compressed with gzip. */
export function tablePartName(table: string, part: number): string {
  return `${tablesFolder}${table}/${String(part).padStart(6, '0')}.copy.gz`
}

export function blobListName(part: number): string {
  return `${blobListsFolder}${String(part).padStart(6, '0')}.ndjson`
}
