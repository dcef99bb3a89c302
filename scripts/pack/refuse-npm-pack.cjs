// The `prepack` script of each workspace package: `npm pack` and `npm publish` would take the TypeScript source, which no
// other project can use. CommonJS, because it runs with whatever Node the machine has.
'use strict'

console.error(
  'npm pack and npm publish would take TypeScript source here. Run in the root of the repository instead: npm run pack\n' +
    'It writes the packages for other projects to dist/packages: atrium-client.tgz, atrium-cli.tgz, atrium-verify.tgz.',
)
process.exit(1)
