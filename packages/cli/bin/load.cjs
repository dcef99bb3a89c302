// In a file of its own: before version 12, Node cannot read `import()`.
'use strict'

const path = require('path')

exports.load = function (file) {
  return import(require('url').pathToFileURL(file).href)
}

/**
 * Loads a TypeScript file. This process and the Node processes that it forks read TypeScript by strip-types.cjs. The
 * Space service does not: it has options of its own and runs only the certified bundle.
 */
exports.loadSource = function (file) {
  const hook = path.join(__dirname, 'strip-types.cjs')
  require(hook)
  process.execArgv.push('--require', hook)
  return exports.load(file)
}
