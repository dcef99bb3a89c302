const bearer = /^bearer +([^ ].*)$/i

/**
 * What an Authorization header of the scheme Bearer carries; undefined for anything else. A scheme's name has no case
 * (RFC 9110, 11.1).
 */
export function bearerValue(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
}
