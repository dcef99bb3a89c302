process.env['ATRIUM_CRASH_EVERY'] ??= '1'
await import('../faults/crash-matrix.test.ts')
