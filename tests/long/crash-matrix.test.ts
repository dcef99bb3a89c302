process.env['ATRIUM_CRASH_EVERY'] ??= '1'
await import('../crash-matrix.test.ts')
