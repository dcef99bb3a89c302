// Written by scripts/libraries.ts.
export { default } from 'fast-json-stringify'
