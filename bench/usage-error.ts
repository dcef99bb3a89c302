/** Something that whoever started it can mend: printed as one line. */
export class UsageError extends Error {}
