import { statement, type Db } from '#db/database.ts'
import type { TimePosition } from '#http/cursor.ts'

/** A certificate that the Space service has answered with. */
export interface SeenCertificate {
  /** SHA-256 of `signed`, in hex. */
  digest: string
  signed: string
  keyThumbprint: string
  firstSeenAt: string
  lastSeenAt: string
}

interface Row {
  digest: string
  signed: string
  key_thumbprint: string
  first_seen_at: string
  last_seen_at: string
}

function toSeen({ key_thumbprint, first_seen_at, last_seen_at, ...same }: Row): SeenCertificate {
  return { ...same, keyThumbprint: key_thumbprint, firstSeenAt: first_seen_at, lastSeenAt: last_seen_at }
}

const columns = 'digest, signed, key_thumbprint, first_seen_at, last_seen_at'

const saveStatement = statement<never>(
  'space-certificates-save',
  // On conflict: the service still has this certificate, or has it again.
  `insert into space_certificates as c (digest, signed, key_thumbprint) values ($1, $2, $3)
   on conflict on constraint space_certificates_pkey do update set last_seen_at = now(), key_thumbprint = excluded.key_thumbprint`,
)

export async function saveCertificate(
  db: Db,
  { digest, signed, keyThumbprint }: Pick<SeenCertificate, 'digest' | 'signed' | 'keyThumbprint'>,
): Promise<void> {
  await db.query(saveStatement, [digest, signed, keyThumbprint])
}

const findStatement = statement<Row>('space-certificates-find', `select ${columns} from space_certificates where digest = $1`)

export async function findCertificate(db: Db, digest: string): Promise<SeenCertificate | undefined> {
  const [row] = await db.query(findStatement, [digest])
  return row && toSeen(row)
}

const listStatement = statement<Row>(
  'space-certificates-list',
  `select ${columns} from space_certificates where (first_seen_at, digest) < ($1::timestamptz, $2)
   order by first_seen_at desc, digest desc limit $3`,
)

/** Newest first. */
export async function listCertificates(db: Db, after: TimePosition | undefined, limit: number): Promise<SeenCertificate[]> {
  return (await db.query(listStatement, [after?.createdAt ?? 'infinity', after?.id ?? '', limit])).map(toSeen)
}
