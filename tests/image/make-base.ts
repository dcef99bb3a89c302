// Makes the base of the images before `npm run test:image` needs it: this takes a minute, most of it to download
// packages. Does nothing where these tests skip.
import { makeBase, skip } from './build.ts'

if (skip === false) await makeBase()
