/** When a read saw the outbox: each transaction below `xmin` had ended, and none from `xmax` on had begun. */
export interface Snapshot {
  xmin: number
  xmax: number
}

/** What was read of a tenant and numbered: all visible events above the floor, or the first of them. */
export interface NumberedPart {
  tenantId: string
  lastPosition: number
  isCut: boolean
}

interface Floor {
  position: number
  /** Becomes the floor when no transaction that ran at the time of its read is left. */
  next: { position: number; xmax: number } | undefined
}

const maxTenants = 10_000

/**
 * Up to which position the outbox has no events of a tenant, and will have none. An index keeps the entries of deleted
 * rows until they are vacuumed, so under load a read from the beginning would pass those of all events that were numbered
 * since. A long transaction anywhere in the database, such as a backup, would keep them until its end.
 *
 * A transaction has its number before it takes a position (insertEvents, place_checked_items). So an event with a lower position
 * than a visible one belongs to a transaction that had begun when that was seen. When all transactions of that time have
 * ended, a further read sees the last of these events.
 */
export class OutboxFloors {
  readonly #floors = new Map<string, Floor>()

  /** 0: unknown. */
  of(tenantId: string): number {
    return this.#floors.get(tenantId)?.position ?? 0
  }

  /** Called when the numbering of all these parts, which were read at once, has committed. */
  raise({ xmin, xmax }: Snapshot, parts: NumberedPart[]): void {
    for (const { tenantId, lastPosition, isCut } of parts) {
      const floor = this.#floors.get(tenantId) ?? { position: 0, next: undefined }
      if (floor.next && floor.next.xmax <= xmin) {
        const isPassed = !isCut || lastPosition >= floor.next.position
        floor.position = Math.max(floor.position, isPassed ? floor.next.position : lastPosition)
        if (isPassed) floor.next = undefined
      }
      floor.next ??= { position: lastPosition, xmax }
      this.#floors.delete(tenantId)
      this.#floors.set(tenantId, floor)
    }
    for (const tenantId of this.#floors.keys()) {
      if (this.#floors.size <= maxTenants) break
      this.#floors.delete(tenantId)
    }
  }

  forget(tenantIds: Iterable<string>): void {
    for (const tenantId of tenantIds) this.#floors.delete(tenantId)
  }

  /** After a failover, positions and transactions may have lower numbers than before. */
  forgetAll(): void {
    this.#floors.clear()
  }
}
