/**
 * CryptoKey, as whichever platform's types are loaded name it: those of Node and those of browsers differ in detail.
 */
export type WebCryptoKey = Parameters<typeof crypto.subtle.exportKey>[1]
