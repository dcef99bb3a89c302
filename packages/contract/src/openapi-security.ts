import type { Operation } from './operation.ts'
import type { JsonObject } from './openapi-schemas.ts'

type Requirement = Record<string, []>

const secret: Requirement[] = [{ secretKey: [] }, { secretKeyHeader: [] }]
const publishable: Requirement[] = [{ publishableKey: [] }, { publishableKeyHeader: [] }]

const ofCaller: Record<Operation['caller'], Requirement[]> = {
  secret,
  publishable: [...publishable, ...secret],
  operator: [{ operatorToken: [] }],
  control: [{ sessionControlToken: [] }],
  anyone: [{}],
}

/** The document's default security, for operations that declare nothing else. */
export const defaultSecurity = secret

/**
 * The alternative security requirements of an operation: the caller's credential, alone or with the collection token.
 */
export function securityOf(op: Operation): Requirement[] {
  if (op.sessionOnly) return [{ consoleSession: [], consoleCsrf: [] }]
  const alone = ofCaller[op.caller]
  if (!op.capability) return op.caller === 'anyone' ? [] : alone
  const together = alone.map((requirement): Requirement => ({ ...requirement, collectionToken: [] }))
  return op.capability === 'owner' ? together : [...alone, ...together]
}

export const securitySchemes: Record<string, JsonObject> = {
  secretKey: { type: 'http', scheme: 'bearer', bearerFormat: 'wsk_…', description: 'Secret key. Full scope; for servers only.' },
  secretKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'Secret key (wsk_…), as an alternative to Authorization.',
  },
  publishableKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'wpk_…',
    description: 'Publishable key. Safe in a browser: it identifies the tenant and authenticates nobody.',
  },
  publishableKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'Publishable key (wpk_…), as an alternative to Authorization.',
  },
  collectionToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Collection-Token',
    description: 'The admin_token (cat_…, owner) or contributor_token (cct_…, adds only) of the collection.',
  },
  operatorToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Admin-Token',
    description: 'The admin token of the operator of this installation.',
  },
  consoleSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-atrium-console',
    description: 'The cookie of a session of the console.',
  },
  consoleCsrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Atrium-CSRF',
    description: 'The `csrf` of GET /console/session, which each request with the cookie needs.',
  },
  sessionControlToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sct_…',
    description: 'Control token of one session, returned when it was launched.',
  },
}
