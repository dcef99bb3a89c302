process.env['ATRIUM_CRASH_EVERY'] ??= '1'
await import('../inside/crash-matrix.test.ts')
