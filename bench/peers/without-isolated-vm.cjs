// Loaded before Directus. It needs isolated-vm, which must be compiled, for scripts in flows only; the measured job has
// none.
'use strict'

const Module = require('module')

const load = Module._load
Module._load = function (name, ...rest) {
  return /isolated-vm/.test(name) ? {} : load.call(this, name, ...rest)
}
