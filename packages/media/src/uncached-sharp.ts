import sharp from 'sharp'

// Process-wide, and so said in one place. The cache serves a program that opens the same file over and over; here
// every picture is another, and what it keeps of them, a hundred megabytes and more, is never asked for again.
sharp.cache(false)

export const uncachedSharp = sharp
