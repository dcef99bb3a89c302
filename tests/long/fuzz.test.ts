process.env['ATRIUM_FUZZ_REQUESTS'] ??= '20000'
await import('../fuzz.test.ts')
