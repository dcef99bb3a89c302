import { Shards } from '@atrium/traffic/shards'

/** Where the rows of tenants are: on the shards of a Citus cluster or, on one PostgreSQL, in one place. */
export class TenantShards extends Shards {
  /** Whether there is a cluster. It may have a single shard. */
  readonly isSpread: boolean

  constructor(starts: readonly number[] = []) {
    super(starts)
    this.isSpread = starts.length > 0
  }

  /** The tenants of each shard, by shard. On one PostgreSQL: all of them, as shard 0. */
  group(tenantIds: Iterable<string>): Map<number, string[]> {
    return Map.groupBy(tenantIds, (tenantId) => this.shardOf(tenantId))
  }
}
