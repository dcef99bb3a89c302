import sharp from 'sharp'

// The setting applies to the whole process. The cache helps programs that read a file repeatedly. Here every picture
// is different, and the cache would keep a hundred megabytes of them.
sharp.cache(false)

export const uncachedSharp = sharp
