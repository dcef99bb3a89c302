export { newRoomSecret } from '@atrium/room-client/new-room-secret'
