import { parentPort, workerData } from 'node:worker_threads'
import { paintPicture, type PaintRequest } from './paint-picture.ts'

if (!parentPort) throw new Error('this file is a thread of the painter')
const picture = await paintPicture(workerData as PaintRequest)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has no origin, a window's has
parentPort.postMessage(picture)
