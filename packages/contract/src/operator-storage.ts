import { Type } from './type.ts'
import { operation } from './operation.ts'
import { id, nullable, oneOf, PageQuery, Timestamp } from './schemas.ts'

const bytes = (description: string) => Type.Integer({ minimum: 0, description })

const Certificate = Type.Object({
  digest: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the signed text, in hex.' }),
  git_commit: nullable(Type.String()),
  function_code_sha256: nullable(Type.String({ description: 'Base64.' })),
  source_sha256: nullable(Type.String({ description: 'Base64.' })),
  egress: Type.Array(Type.String(), { description: 'Where the service may connect.' }),
  key_thumbprint: Type.String({ description: 'The thumbprint (RFC 7638) of the key that signed it.' }),
  first_seen_at: nullable(Timestamp),
  last_seen_at: nullable(Timestamp),
})

const certificate = {
  digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  git_commit: '8828eed0c1f5a3b7f1a3b7c1f5a3b7f1a3b7c1f5',
  function_code_sha256: 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
  source_sha256: 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
  egress: ['postgres'],
  key_thumbprint: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  first_seen_at: '2026-11-20T09:30:00.000Z',
  last_seen_at: '2026-11-22T11:02:00.000Z',
}

export const operatorStorageOperations = {
  readStorage: operation({
    id: 'readStorage',
    kind: 'read',
    method: 'GET',
    path: '/operator/storage',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Read what database and blob store hold',
    description:
      'Operator only. The size of the database and of each table, largest first, with indexes and what lies beside the rows; ' +
      'partitions count for their table. Sizes on the nodes of Citus are included.',
    caller: 'operator',
    answers: {
      200: {
        description: 'The sizes.',
        data: Type.Object({
          database: Type.Object({
            bytes: bytes('Size of the database, on the coordinator where it is Citus.'),
            tables: Type.Array(
              Type.Object({
                name: Type.String(),
                bytes: bytes('With indexes.'),
                rows: nullable(Type.Integer({ minimum: 0, description: 'An estimate. null: not analyzed yet.' })),
              }),
            ),
          }),
          blobs: Type.Object({
            store: Type.String({ description: 'The store of blobs: `disk` or `s3`.' }),
            artifact_bytes: bytes('Bytes of the artifacts of all tenants.'),
            free_bytes: nullable(bytes('Free on the disk. null: S3.')),
            disk_bytes: nullable(bytes('Size of the disk. null: S3.')),
          }),
        }),
      },
    },
    example: {
      data: {
        database: { bytes: 48_213_000, tables: [{ name: 'items', bytes: 8_192_000, rows: 12_000 }] },
        blobs: { store: 'disk', artifact_bytes: 1_073_741_824, free_bytes: 53_687_091_200, disk_bytes: 107_374_182_400 },
      },
    },
  }),
  listStorage: operation({
    id: 'listStorage',
    kind: 'read',
    method: 'GET',
    path: '/operator/storage/tenants',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'List the tenants by their stored bytes',
    description: 'Operator only. The tenants that store artifacts, those with most bytes first.',
    caller: 'operator',
    query: PageQuery,
    answers: {
      200: {
        description: 'A page of tenants.',
        data: Type.Array(
          Type.Object({ tenant_id: id('tenant'), name: Type.String(), stored_bytes: bytes('Bytes of its artifacts.') }),
        ),
        paged: true,
      },
    },
    errors: ['invalid_cursor'],
    example: { data: [{ tenant_id: 'ten_4fRzK0vXcB1mQwErTy7uPa', name: 'Harbour Wall', stored_bytes: 48_213 }] },
  }),
  readSpace: operation({
    id: 'readSpace',
    kind: 'read',
    method: 'GET',
    path: '/operator/space',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'Read the state and the certificate of the Space service',
    description:
      'Operator only. Asks the Space service now. `invalid`: it answers, but not with a certificate that its key has signed. ' +
      '`first_seen_at` is null until the certificate is recorded, which takes up to a minute.',
    caller: 'operator',
    answers: {
      200: {
        description: 'The state.',
        data: Type.Object({
          url: Type.String({ description: 'The public origin of the Space service.' }),
          state: oneOf(['answering', 'invalid', 'unreachable']),
          certificate: nullable(Certificate),
        }),
      },
    },
    example: { data: { url: 'https://space.example', state: 'answering', certificate } },
  }),
  listCertificates: operation({
    id: 'listCertificates',
    kind: 'read',
    method: 'GET',
    path: '/operator/space/certificates',
    status: 'live',
    unpublished: true,
    tag: 'Operator',
    summary: 'List the certificates of the Space service',
    description: 'Operator only. The certificates that the service has answered with since this was recorded, newest first.',
    caller: 'operator',
    query: PageQuery,
    answers: { 200: { description: 'A page of certificates.', data: Type.Array(Certificate), paged: true } },
    errors: ['invalid_cursor'],
    example: { data: [certificate] },
  }),
}
