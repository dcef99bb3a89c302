import { defineConfig } from 'oxlint'

/**
 * The layers of the server, top first (see ARCHITECTURE.md). A file imports from its own layer and from those below it. It names the layer in
 * the import (#http/cursor.ts), so that these rules see each import that leaves one.
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
const server = 'packages/server/src'
const tests = ['**/*.test.ts']
const stores = ['**/store.ts', '**/*-store.ts', `${server}/db/**`]

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
    return [
      { files: [`${server}/${layer}/*.ts`], levels: 1 },
      { files: [`${server}/${layer}/*/**`], levels: 2 },
    ].flatMap(({ files, levels }) => {
      const patterns = [...(forbidden.length > 0 ? [upward] : []), testSupport, climbing(levels)]
      return [
        { files, excludeFiles: tests, rules: { 'no-restricted-imports': ['error', { patterns }] as const } },
        {
          files,
          excludeFiles: [...tests, ...stores],
          rules: { 'no-restricted-imports': ['error', { patterns, paths: [sqlOutsideStore] }] as const },
        },
      ]
    })
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
    ...layerRules,
  ],
})
