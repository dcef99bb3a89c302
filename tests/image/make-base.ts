// Makes the base of the images ahead of `npm run test:image`, which takes a minute, mostly of waiting for packages. Does
// nothing where these tests skip.
import { makeBase, skip } from './build.ts'

if (skip === false) await makeBase()
