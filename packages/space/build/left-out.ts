import type { Plugin } from 'esbuild'

interface LeftOut {
  /** As pg requires it. */
  readonly module: string
  /** What stands in the bundle in its place. */
  readonly contents: string
}

/**
 * Parts of pg that this service does not use, so that nobody has to read them. The code that takes their place is in the bundle, and under
 * `left-out:` in its comments.
 */
const leftOut: readonly LeftOut[] = [
  // pg would load the binding of libpq when an environment variable says so: code that no certificate covers.
  { module: './native', contents: "throw new Error('the native client of pg is not in this bundle')" },
  // It reads a password from ~/.pgpass, which the supervisor does not pass on: the password is in DATABASE_URL.
  { module: 'pgpass', contents: 'module.exports = (_parameters, done) => done(undefined)' },
  // Channel binding, which is off unless a client asks for it.
  {
    module: './cert-signatures',
    contents:
      "exports.signatureAlgorithmHashFromCertificate = () => { throw new Error('channel binding is not in this bundle') }",
  },
  // Parsers for dates, intervals, arrays and more. The service has its own for the few types that it reads: src/column-types.ts.
  { module: 'pg-types', contents: 'exports.getTypeParser = () => (text) => text' },
]

export const leaveOut: Plugin = {
  name: 'atrium:leave-out',
  setup(build) {
    const contents = new Map(leftOut.map((entry) => [entry.module, entry.contents]))
    build.onResolve({ filter: /.*/ }, ({ path, importer }) =>
      contents.has(path) && /\/node_modules\/pg\/lib\//.test(importer) ? { path, namespace: 'left-out' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({ contents: contents.get(path)! }))
  },
}
