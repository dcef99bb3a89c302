import { Shards } from '@atrium/traffic/shards'

/** Where the rows of tenants are: on the shards of a Citus cluster or, on one PostgreSQL, in one place. */
export class TenantShards extends Shards {
  /** Whether there is a cluster. It may have a single shard. */
  readonly isSpread: boolean
  readonly #nodes: readonly number[]

  /** `nodes`: the node of each shard, in the order of the shards. Absent: all are on one. */
  constructor(starts: readonly number[] = [], nodes: readonly number[] = []) {
    super(starts)
    this.isSpread = starts.length > 0
    this.#nodes = nodes
  }

  /** The node that had the shard when this process started. It may have moved since. */
  nodeOf(shard: number): number {
    return this.#nodes[shard] ?? 0
  }

  /** The tenants of each shard, by shard. On one PostgreSQL: all of them, as shard 0. */
  group(tenantIds: Iterable<string>): Map<number, string[]> {
    return Map.groupBy(tenantIds, (tenantId) => this.shardOf(tenantId))
  }
}
