/**
 * The texts of the pages that people see outside the Space app: share page, wall, checkout, sign-in. In texts by
 * plural category, the number replaces `#`.
 */
export const en = {
  share: {
    untitled: 'Untitled collection',
    gathering: 'Still gathering. The picture will appear here.',
    awaited: 'The picture will appear here.',
    closed: 'This collection is closed.',
    closedMark: 'Closed',
    sharedWith: 'Shared with Atrium',
    missingTitle: 'Nothing here',
    missingHeading: 'There is nothing at this address',
    missing: 'The link may be incomplete, or what it led to has been taken down.',
    busyHeading: 'This page cannot be shown right now',
    busy: 'Try again in a moment.',
    tryAgain: 'Try again',
    openPage: 'Open the page',
  },

  wall: {
    messages: 'Messages',
    connecting: 'Connecting',
    live: 'Live',
    pause: 'Pause',
    paused: 'Paused',
    resume: 'Resume',
    empty: 'Nothing here yet. What people write appears here.',
    emptyForNow: 'Nothing here yet.',
    nothingOlder: 'There is nothing older.',
    pages: 'Pages',
    newest: 'Newest',
    older: 'Older',
    yes: 'yes',
    no: 'no',
    /** On the button that shows what has arrived. */
    fresh: forms('# new', '# new'),
    /** For screen readers, before one message or several. */
    arrived: 'New:',
    arrivedMany: forms('# new message', '# new messages'),
  },

  checkout: {
    testMode: 'TEST MODE',
    noMoney: 'No money moves',
    inTestMode: 'Test mode',
    /** The word without the number, which is large and stands above it. */
    credits: forms('credit', 'credits'),
    amount: forms('# credit', '# credits'),
    payFor: (amount: string) => `Pay for ${amount}`,
    licenseKey: 'A license key, which mints a wallet',
    prefund: 'Credits for the issuer’s balance',
    price: 'Price',
    charged: 'Charged here',
    nothing: 'Nothing',
    pay: 'Pay',
    cancel: 'Cancel',
    returnTo: (host: string) => `You return to ${host}`,
    paid: 'Paid',
    sold: (amount: string) => `Sold: ${amount}. Nothing was charged.`,
    goOn: 'Continue',
    expiredTitle: 'Expired',
    expiredHeading: 'This checkout has expired',
    expired: 'It can no longer be paid. Go back and start again.',
    goBack: 'Go back',
    missingTitle: 'No checkout',
    missingHeading: 'There is no checkout here',
    missing: 'The address may be incomplete.',
  },

  signIn: {
    title: 'Development sign-in',
    badge: 'development',
    nothingChecked: 'Nothing is checked here.',
    warning:
      'This page accepts every address: it asks for no password and sends no e-mail. It is for trying Atrium on this computer. It answers no other computer and does not exist in production.',
    address: 'E-mail address',
    notAddress: 'This is not an e-mail address. Write one such as ann@example.com.',
    notAddressTitle: 'Check the address',
    name: 'Name',
    optional: '(optional)',
    signIn: 'Sign in',
    cancel: 'Cancel',
    returnTo: (origin: string) => `You return to ${origin}`,
    problem: 'This sign-in cannot go on',
    problemCause:
      'The page that sent you here asked in a way that Atrium’s development sign-in does not answer. Nobody was signed in.',
    about:
      'This is an OpenID provider that accepts every address. It is for trying Atrium on this computer. It answers no other computer and does not exist in production.',
    aboutApp: (app: string) => `Apps send people here to sign in. Try it in ${app}: make a room with a list.`,
    app: 'the Space app',
    aboutPrograms: (configuration: string) => `For programs: ${configuration} (OpenID Connect Discovery).`,
    configuration: 'its configuration',
  },
}

/** Every category of the language is there. */
export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>

function forms(one: string, other: string): Forms {
  return { one, other }
}
