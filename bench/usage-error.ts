/** An error that the user can fix. It is printed as one line. */
export class UsageError extends Error {}
