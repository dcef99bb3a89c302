// Which machines the lock file brings a Node, a PostgreSQL and picture libraries for. In JavaScript that every version of Node can read.
'use strict'

var supported = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']

/**
 * Returns why a source folder cannot run on this machine and what runs there instead; undefined where it can.
 * `glibc` is the version of the GNU C library, undefined where there is none.
 */
exports.refusal = function (platform, arch, glibc) {
  var instead = 'Run the container image instead (docs/operating/install.md).'
  if (platform === 'win32')
    return 'this does not run on Windows. Use WSL 2, or run the container image (docs/operating/install.md).'
  if (supported.indexOf(platform + '-' + arch) === -1) return 'this does not run on ' + platform + '-' + arch + '. ' + instead
  if (platform === 'linux' && glibc === undefined)
    return 'this needs glibc, and this Linux has another C library (musl). ' + instead
  return undefined
}

/** The version of the GNU C library that this process uses. */
exports.glibc = function () {
  // Node 11 and older have no report; they are refused for their age.
  if (process.platform !== 'linux' || !process.report) return 'unknown'
  // Without this, the report looks up the names of all connected hosts.
  process.report.excludeNetwork = true
  return process.report.getReport().header.glibcVersionRuntime
}
