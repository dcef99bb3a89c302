// Written by scripts/libraries.ts.
export { calculateJwkThumbprint, CompactEncrypt, CompactSign, decodeJwt, decodeProtectedHeader, errors, exportJWK, importJWK, jwtVerify, SignJWT } from 'jose'
export type { JWK, JWTPayload } from 'jose'
