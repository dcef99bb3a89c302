const bearer = /^bearer +([^ ].*)$/i

/**
 * The value of an Authorization header with the scheme Bearer; undefined for any other header. The name of a scheme
 * is case-insensitive (RFC 9110, 11.1).
 */
export function bearerValue(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
}
