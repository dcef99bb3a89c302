/**
 * How long is waited for what, so that every request is answered within ten seconds, whatever the database does: an input waits in memory
 * (queue), then its query waits for a connection and then for its answer (2 + 1.5 + 6 s). The server gives a statement up before its client does:
 * only where the server itself is silent is the outcome of a write unknown.
 */
export const patience = {
  /** For a place in a batch. */
  queueMs: 2_000,
  /** When what runs has not been answered for so long, nothing more is let wait for it. */
  stalledMs: 1_000,
  /** For a place among the transactions that work on the same thing. It counts for the transaction too. */
  laneMs: 4_000,
  /** For a connection, a new one too. */
  connectionMs: 1_500,
  /** PostgreSQL ends a statement then. */
  statementMs: 5_000,
  /** The client gives a statement up then, and throws its connection away. */
  answerMs: 6_000,
  /** A transaction with all its statements and tries; none is begun after that. */
  transactionMs: 7_500,
  /** PostgreSQL ends a transaction then that waits for its client. */
  idleTransactionMs: 10_000,
  /** A try waits so long for locks inside the database, which takes up a connection. */
  lockMs: 50,
  /** A further try: as long, so that it gets its turn among others that hold the lock for a short time each. */
  lockAgainMs: 50,
  /** All tries; the pauses between them are waited for in memory. */
  lockedMs: 2_500,
} as const
