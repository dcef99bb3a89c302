export { type FollowOptions, RewrittenHistoryError } from '@atrium/room-client/follow-room'
