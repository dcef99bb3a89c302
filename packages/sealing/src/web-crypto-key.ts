/** CryptoKey in the types of the platform: those of Node and of browsers differ in details. */
export type WebCryptoKey = Parameters<typeof crypto.subtle.exportKey>[1]
