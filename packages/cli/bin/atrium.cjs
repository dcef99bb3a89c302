#!/usr/bin/env node
// The start of the command line, in JavaScript that every version of Node can read: an old one is told what to do, instead of a syntax error.
'use strict'

var fs = require('fs')
var path = require('path')

var packed = path.join(__dirname, '..', 'dist', 'atrium.mjs')
var isPackage = fs.existsSync(packed)
// From a source folder Node runs TypeScript as it is.
var needed = isPackage ? 20 : 24
var major = parseInt(process.versions.node, 10)
var platform = require('./platform.cjs')
var refusal = isPackage ? undefined : platform.refusal(process.platform, process.arch, platform.glibc())

if (refusal) {
  console.error('atrium: ' + refusal)
  process.exit(1)
} else if (major >= needed) {
  var loader = require('./load.cjs')
  if (isPackage) void loader.load(packed)
  else void loader.loadSource(path.join(__dirname, '..', 'src', 'atrium.ts'))
} else {
  var remedy = isPackage
    ? 'Install a newer one (https://nodejs.org), and run the command again.'
    : 'In the source folder, npm ci installs it: then npm start, and npm run atrium -- COMMAND, use it.'
  console.error(
    'atrium: this needs Node ' +
      needed +
      ' or newer, and ' +
      process.execPath +
      ' is Node ' +
      process.versions.node +
      '. ' +
      remedy,
  )
  process.exit(1)
}
