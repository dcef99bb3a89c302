import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'

export const backupFormat = 'atrium-backup/1'

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Count = Type.Integer({ minimum: 0 })
const Name = Type.String({ minLength: 1, maxLength: 200 })
/** A name that is printed before it is compared with anything. */
const PlainName = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,200}$' })
const Time = Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z$' })

/** header.json, the first file of an archive: what a restore needs before it begins. */
const Header = Type.Object({
  format: Type.Literal(backupFormat),
  /** RFC 3339, by the database's clock. Everything that was acknowledged before this time is in the archive. */
  snapshot_at: Time,
  migrations: Type.Array(Type.Object({ name: PlainName, sha256: Name })),
  /** The columns of each table in the archive, in the order of its data. */
  tables: Type.Record(Name, Type.Array(Name, { minItems: 1 })),
  /** The last value of each sequence; null where none was used. */
  sequences: Type.Record(Name, Type.Union([Type.Integer(), Type.Null()])),
  keys: Type.Object({
    /** The ids of the master keys under which values in the archive are sealed. They are hashes, and not secret. */
    master: Type.Array(PlainName),
    /**
     * The RFC 7638 thumbprint of Space's signing key. null: the backup ran where the key is not. Absent: the archive is
     * of a release that did not record it.
     */
    space: Type.Optional(Type.Union([Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }), Type.Null()])),
  }),
  blobs: Type.Boolean(),
})
export type BackupHeader = Static<typeof Header>

/** manifest.json, the last file of an archive: an archive without it is incomplete. */
const Manifest = Type.Object({
  format: Type.Literal(backupFormat),
  snapshot_at: Time,
  /** `sha256` and `bytes` are those of a table's uncompressed data, from all its files. */
  tables: Type.Record(Name, Type.Object({ rows: Count, bytes: Count, sha256: Sha256 })),
  /**
   * `sha256` is that of all files in blob-lists/, which contain the SHA-256 of each blob. null: the archive has no
   * blobs.
   */
  blobs: Type.Union([Type.Object({ count: Count, bytes: Count, sha256: Sha256 }), Type.Null()]),
})
export type BackupManifest = Static<typeof Manifest>

const checkHeader = Compile(Header)
const checkManifest = Compile(Manifest)

/** Throws unless the value is a header that `atrium backup` writes. */
export function parseHeader(json: string): BackupHeader {
  const header: unknown = JSON.parse(json)
  const format = (header as { format?: unknown } | null)?.format
  if (format !== backupFormat) throw new Error(`its format is ${JSON.stringify(format)}, and this atrium reads ${backupFormat}`)
  if (checkHeader.Check(header) && !Number.isNaN(Date.parse(header.snapshot_at))) return header
  throw new Error(`${headerName} has a wrong value at ${wrongPlace(checkHeader.Errors(header))}`)
}

/** Throws unless the value is a manifest that `atrium backup` writes. */
export function parseManifest(json: string): BackupManifest {
  const manifest: unknown = JSON.parse(json)
  if (checkManifest.Check(manifest)) return manifest
  throw new Error(`${manifestName} has a wrong value at ${wrongPlace(checkManifest.Errors(manifest))}`)
}

function wrongPlace(errors: { instancePath: string }[]): string {
  return (errors[0]?.instancePath ?? '').slice(0, 200) || '/'
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
