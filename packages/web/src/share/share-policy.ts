/**
 * The content security policy of a share page: its one style by hash, pictures, video and audio from its own origin
 * and the hero's, and nothing else.
 *
 * Anyone may frame it: oEmbed's rich type is an iframe on a page we do not know. That is safe here, since the page
 * runs no script, has no form and knows no session, so a stolen click has nothing to press. The answer must not carry
 * X-Frame-Options.
 */
export function sharePolicy(styleHash: string, heroOrigin?: string): string {
  const media = ["'self'", ...(heroOrigin === undefined ? [] : [heroOrigin])].join(' ')
  return [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `img-src ${media}`,
    `media-src ${media}`,
    "base-uri 'none'",
    "form-action 'none'",
    'frame-ancestors *',
    "require-trusted-types-for 'script'",
  ].join('; ')
}
