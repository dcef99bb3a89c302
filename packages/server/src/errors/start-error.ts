/** Something that whoever starts the server can mend: printed as one line, without a stack. */
export class StartError extends Error {}
