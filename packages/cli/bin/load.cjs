// In a file of its own: before version 12, Node cannot read `import()`.
'use strict'

exports.load = function (file) {
  return import(require('url').pathToFileURL(file).href)
}
