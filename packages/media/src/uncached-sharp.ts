import sharp from 'sharp'

// The setting applies to the whole process. The cache helps programs that open the same file repeatedly. Here every
// picture is different, and the cache would keep a hundred megabytes or more that are never used again.
sharp.cache(false)

export const uncachedSharp = sharp
