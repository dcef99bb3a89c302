import sharp from 'sharp'

// The setting is process-wide. The cache is for programs that read the same file again; here every picture is another
// one, and the cache would keep a hundred megabytes of them.
sharp.cache(false)

export const uncachedSharp = sharp
