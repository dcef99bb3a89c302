// Behind `postinstall`. npm 10 removes the link node_modules/.bin/node when it skips the Node packages of other platforms, which bring a
// program of the same name. This makes the link again. In JavaScript that every version of Node can read.
'use strict'

var fs = require('fs')
var path = require('path')
var platform = require('./platform.cjs')

var modules = path.join(__dirname, '..', '..', '..', 'node_modules')
var names = ['node-' + process.platform + '-' + process.arch, 'node-bin-' + process.platform + '-' + process.arch]
var link = path.join(modules, '.bin', 'node')
var refusal = platform.refusal(process.platform, process.arch, platform.glibc())

if (refusal) console.error('atrium: ' + refusal)
for (var i = 0; i < names.length; i++) {
  var program = path.join('..', names[i], 'bin', 'node')
  if (fs.existsSync(path.join(modules, '.bin', program)) && !fs.existsSync(link)) fs.symlinkSync(program, link)
}
