import { EgressError } from './egress-error.ts'
import { assertHost, type EgressMode } from './host-rule.ts'

export type UrlCheck = { ok: true; url: URL } | { ok: false; reason: 'refused_url' | 'refused_address'; message: string }

const maxLength = 2_048

/** The ports that WHATWG fetch blocks, whose services could interpret a request as commands. */
const badPorts = new Set(
  `1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161
  179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190
  5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080 0`.split(/\s+/),
)

/** Whether the text of a URL is allowed. The addresses of its name are checked at each connection. */
export function checkUrl(text: string, mode: EgressMode): UrlCheck {
  try {
    return { ok: true, url: parseUrl(text, mode) }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    return { ok: false, reason: error.reason === 'refused_address' ? error.reason : 'refused_url', message: error.message }
  }
}

/** @throws EgressError refused_url, refused_address */
export function parseUrl(text: string, mode: EgressMode): URL {
  if (text.length > maxLength) throw refusedUrl(`has more than ${maxLength} characters`)
  // Parsers disagree on these: WHATWG drops some and reads others as slashes.
  if (/[\u0000-\u0020\u007f\\]/.test(text)) throw refusedUrl('has a space, a control character or a backslash')
  if (!URL.canParse(text)) throw refusedUrl('is not absolute, such as https://example.com/hook')
  const url = new URL(text)
  // This form is stored and checked again: a letter that is not ASCII becomes six to twelve characters.
  if (url.href.length > maxLength) throw refusedUrl(`has more than ${maxLength} characters, as it would be sent`)
  const secure = url.protocol === 'https:'
  if (!secure && !(url.protocol === 'http:' && mode === 'loopback')) {
    throw refusedUrl(
      `must start with https://${url.protocol === 'http:' ? ' (for development, ATRIUM_EGRESS=loopback also allows http to this machine)' : ''}`,
    )
  }
  if (url.username || url.password) throw refusedUrl('must not hold a user name or password')
  if (badPorts.has(url.port)) throw refusedUrl('has a port that is not for HTTP')
  assertHost(url.hostname.replace(/^\[|\]$/g, ''), { mode, secure })
  return url
}

function refusedUrl(what: string): EgressError {
  return new EgressError('refused_url', `The URL ${what}.`)
}
