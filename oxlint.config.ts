import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'oxlint'

/**
 * The layers of the server, top first (see ARCHITECTURE.md). A file imports from its own layer and from those below it.
 * It names the layer in the import (#http/cursor.ts), so that these rules see each import that leaves one.
 */
const layers = [
  ['processes'],
  ['gateway'],
  ['features'],
  ['http'],
  ['ports', 'crypto'],
  ['db'],
  ['config'],
  ['errors'],
  ['libraries'],
]
/** The features, top first. A feature imports only from the lines below its own, so features form no cycle. */
const features = [
  ['share', 'tenant-data'],
  ['artifacts', 'installation', 'key-leaks', 'sessions', 'streams'],
  ['agents', 'backup', 'console', 'limits', 'request-log', 'revocation-probe', 'usage'],
  ['credits'],
  ['items', 'outcomes', 'tenants'],
  ['collections', 'keys', 'webhooks'],
  ['agent-issuer', 'events'],
  ['operator-credentials', 'transparency-log'],
  ['audit-log', 'blob-deletions', 'distribution', 'partitions', 'platform-keys', 'provider-keys', 'relay'],
]
const server = 'packages/server/src'
const tests = ['**/*.test.ts', '**/testing/**']
const stores = ['**/store.ts', '**/*-store.ts', `${server}/db/**`]

const folders = readdirSync(new URL(`${server}/features`, import.meta.url), { withFileTypes: true })
for (const { name } of folders.filter((entry) => entry.isDirectory()))
  if (!features.flat().includes(name)) throw new Error(`oxlint.config.ts lacks the feature ${name}`)

interface Pattern {
  group?: string[]
  regex?: string
  message: string
}

const sqlOutsideStore = {
  name: '#db/database.ts',
  importNames: ['statement'],
  message: 'SQL belongs in a store: store.ts, or a file whose name ends in -store.ts.',
}
const testSupport = { group: ['#testing/**', '**/testing/**'], message: 'Only tests import test support.' }
/** Relative imports that climb so far leave the layer, or could. */
const climbing = (levels: number) => ({
  regex: `^(\\.\\./){${levels}}`,
  message: 'Name the layer: #http/cursor.ts, not ../http/cursor.ts.',
})

interface Manifest {
  name: string
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const packages = readdirSync(new URL('packages', import.meta.url)).filter((name) => name !== 'python')
const manifests = new Map(packages.map((name) => [name, readManifest(`packages/${name}/package.json`)]))
const root = readManifest('package.json')
const known = [root, ...manifests.values()].flatMap((manifest) => [
  manifest.name,
  ...Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }),
])

/**
 * Refuses the imports that the package.json of a package does not name. knip does not report them: it lets a private
 * package import each workspace, and each dependency of the root.
 */
function undeclared(name: string): Pattern {
  const { dependencies, peerDependencies } = manifests.get(name) ?? {}
  const declared = new Set(Object.keys({ ...dependencies, ...peerDependencies }))
  const others = [...new Set(known)].filter((other) => !declared.has(other))
  return {
    regex: `^(${others.map((other) => other.replaceAll('.', '[.]')).join('|')})(/|$)`,
    message: `packages/${name}/package.json does not name this package.`,
  }
}

/** Refuses the imports of features in the line of this feature, and in the lines above. */
function featuresAbove(name: string): Pattern {
  const line = features.findIndex((names) => names.includes(name))
  const above = features.slice(0, line + 1).flat()
  return {
    regex: `^(#features|\\.\\.)/(${above.filter((other) => other !== name).join('|')})/`,
    message: `features/${name} is below this feature or beside it (oxlint.config.ts).`,
  }
}

function restrict(files: string[], patterns: Pattern[]) {
  return { files, excludeFiles: tests, rules: { 'no-restricted-imports': ['error', { patterns }] as const } }
}

/** The rules for files of one layer. Files that are not stores have no SQL either. */
function restrictLayer(files: string[], patterns: Pattern[]) {
  const rules = { 'no-restricted-imports': ['error', { patterns, paths: [sqlOutsideStore] }] as const }
  return [restrict(files, patterns), { files, excludeFiles: [...tests, ...stores], rules }]
}

const packageRules = packages.map((name) => restrict([`packages/${name}/src/**`], [undeclared(name)]))

const layerRules = layers.flatMap((line, i) =>
  line.flatMap((layer) => {
    const forbidden = layers
      .slice(0, i + 1)
      .flat()
      .filter((other) => other !== layer)
    const upward = {
      group: forbidden.map((other) => `#${other}/**`),
      message: `${layer}/ is below this layer or beside it.`,
    }
    const patterns = [...(forbidden.length > 0 ? [upward] : []), testSupport, undeclared('server')]
    const nested = [...patterns, climbing(2)]
    return [
      ...restrictLayer([`${server}/${layer}/*.ts`], [...patterns, climbing(1)]),
      ...restrictLayer([`${server}/${layer}/*/**`], nested),
      // The last rule for a file replaces those before, so each rule of a feature repeats the patterns of the layer.
      ...(layer === 'features' ? features.flat() : []).flatMap((name) =>
        restrictLayer([`${server}/features/${name}/**`], [...nested, featuresAbove(name)]),
      ),
    ]
  }),
)

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'node', 'promise'],
  categories: {
    correctness: 'error',
    suspicious: 'error',
    perf: 'error',
  },
  // Written by scripts/libraries.ts.
  ignorePatterns: ['packages/server/src/libraries/**'],
  env: {
    node: true,
    es2024: true,
  },
  rules: {
    'no-await-in-loop': 'off',
    'no-shadow': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'import/no-named-as-default': 'off',
    'import/no-named-as-default-member': 'off',
    'oxc/no-map-spread': 'off',
    'promise/always-return': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/no-unsafe-enum-comparison': 'off',
    'typescript/no-floating-promises': [
      'error',
      {
        allowForKnownSafeCalls: [
          {
            from: 'package',
            name: ['test', 'describe', 'it', 'before', 'after', 'beforeEach', 'afterEach'],
            package: 'node:test',
          },
        ],
      },
    ],
    'typescript/no-misused-promises': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'import/no-cycle': 'error',
    'promise/no-callback-in-promise': 'off',
    'promise/no-promise-in-callback': 'off',
    'typescript/no-generated-empty-object-type': 'off',
    'no-unmodified-loop-condition': 'off',
    'typescript/require-array-sort-compare': 'off',
    'unicorn/no-array-fill-with-reference-type': 'off',
    'typescript/consistent-return': 'off',
    'typescript/restrict-template-expressions': 'off',
    'no-control-regex': 'off',
    'typescript/no-misused-spread': 'off',
    'typescript/no-base-to-string': 'off',
    'no-underscore-dangle': 'off',
  },
  overrides: [
    {
      files: ['**/*.test.ts', 'tests/**', '**/testing/**'],
      rules: {
        'typescript/no-explicit-any': 'off',
        'typescript/no-non-null-assertion': 'off',
        'typescript/unbound-method': 'off',
        'typescript/no-misused-promises': 'off',
        'no-control-regex': 'off',
        'typescript/no-misused-spread': 'off',
      },
    },
    ...packageRules,
    ...layerRules,
  ],
})
