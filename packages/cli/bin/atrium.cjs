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

if (major >= needed) {
  void require('./load.cjs').load(isPackage ? packed : path.join(__dirname, '..', 'src', 'atrium.ts'))
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
