export { DamagedHistoryError, openHistory, type RoomHistory, sealHistory } from '@atrium/room-client/room-history'
