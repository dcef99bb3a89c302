/**
 * Node's module http. An `import` of it reads all that it exports. One of these is WebSocket, whose library takes 10 MiB
 * of each process.
 */
export const http = process.getBuiltinModule('node:http')
