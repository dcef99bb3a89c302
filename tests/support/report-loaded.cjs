// Loaded into a process before all else (NODE_OPTIONS=--require). At SIGUSR2 it writes what the process has loaded, to
// the folder that REPORT_LOADED names.
'use strict'

const { writeFileSync } = require('fs')
const { registerHooks } = require('module')
const path = require('path')

const files = []

registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) files.push(url)
    return nextLoad(url, context)
  },
})

process.on('SIGUSR2', () => {
  const builtins = process.moduleLoadList.map((name) => name.replace(/^\S+ /, ''))
  writeFileSync(path.join(process.env.REPORT_LOADED, `${process.pid}.json`), JSON.stringify({ files, builtins }))
})
