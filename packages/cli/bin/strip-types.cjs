// Removes the types from each TypeScript file once, and keeps the result in node_modules/.cache. Otherwise each process
// would load Node's compiler, which takes 70 MiB. Node's own compile cache also avoids that and makes a start a tenth
// faster, but a process keeps in memory all that it reads from it: 15 MiB in the API and 9 MiB in the job worker.
'use strict'

const { createHash } = require('crypto')
const fs = require('fs')
const { registerHooks, stripTypeScriptTypes } = require('module')
const path = require('path')
const { fileURLToPath } = require('url')

// Beside the code, because a user who can write to it could change the code as well.
const folder = path.join(__dirname, '..', '..', '..', 'node_modules', '.cache', 'stripped', process.version)

/** A part of the name of each kept file. Change it when strip() returns another text for the same file. */
const form = '2\n'

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
    return { format: 'module', source: read(fileURLToPath(url)), shortCircuit: true }
  },
})

function read(file) {
  const text = fs.readFileSync(file, 'utf8')
  const kept = path.join(folder, `${digest(form + text)}.js`)
  const known = readKept(kept)
  if (known !== undefined) return known
  const stripped = strip(text)
  keep(kept, stripped)
  return stripped
}

/** After a power failure a file may be there in part, so the first line is the digest of the rest. */
function readKept(file) {
  try {
    const text = fs.readFileSync(file, 'utf8')
    const [first] = text.split('\n', 1)
    const rest = text.slice(first.length + 1)
    return first === digest(rest) ? rest : undefined
  } catch {
    return undefined
  }
}

/** Another process may read the file meanwhile, so it appears complete. Without a writable folder nothing is kept. */
function keep(file, text) {
  const draft = `${file}.${process.pid}`
  try {
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(draft, `${digest(text)}\n${text}`)
    fs.renameSync(draft, file)
  } catch {
    // The next start tries again.
  }
}

function digest(text) {
  return createHash('sha256').update(text).digest('hex')
}

function strip(text) {
  // Node marks the function as experimental, at its first call. Whoever starts Atrium can do nothing about it.
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return inLatin1(withoutBlanks(stripTypeScriptTypes(text), text))
  } finally {
    process.emitWarning = emitWarning
  }
}

/**
 * Removes the spaces that are at the end of a line where a type was. A process keeps the text of all its files in
 * memory.
 */
function withoutBlanks(stripped, text) {
  const before = text.split('\n')
  return stripped
    .split('\n')
    .map((line, i) => (/\s$/.test(before[i]) ? line : line.trimEnd()))
    .join('\n')
}

/**
 * Replaces the characters outside of Latin-1 by escapes, because V8 takes two bytes for each character of a file that has
 * one. A file in which an escape may mean something else stays as it is: in a raw template, or after a backslash.
 */
function inLatin1(text) {
  if (/String\.raw|\\[^\0-\xff]/.test(text)) return text
  return text.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
