/**
 * The Content-Security-Policy of a share page. It allows the page's one style by hash, and pictures, video and audio
 * from its own origin and the hero's, and nothing else.
 *
 * Anyone may frame the page, because oEmbed's rich type is an iframe on an unknown page. Clickjacking has no target:
 * the page runs no script, has no form and knows no session. The answer must not carry X-Frame-Options.
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
