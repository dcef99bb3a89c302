// Written by scripts/libraries.ts.
export { Compile, Errors, Meta, Pointer } from 'typebox/schema'
