/** The script of a wall. The page is complete without it. The script adds new items and removes deleted ones. */
import type { OpenItem } from '../wall-item.ts'
import { startAnnouncer } from './announcer.ts'
import { Board } from './board.ts'
import { followWall } from './follow-wall.ts'
import { byId } from './make-element.ts'
import { packRows } from './pack-rows.ts'
import { startRelativeTimes } from './relative-times.ts'
import { startStage } from './stage.ts'
import { words } from './words.ts'

/** A reader who has scrolled this far is reading, so nothing moves until the reader asks for it. */
const readingFrom = 160
/** The shortest time between two loads of the page. */
const reloadAfterMs = 30_000

const { stream, cursor } = document.body.dataset
const items = byId('items')
const pauseButton = byId('pause')
const connection = byId('connection')
const isStage = document.body.classList.contains('stage')
let paused = false
let isLive = false

const announce = startAnnouncer(byId('said'))
const updateTimes = startRelativeTimes()
const pack = document.body.classList.contains('cards') ? packRows(items) : undefined
const stage = isStage ? startStage(items, () => paused) : undefined

const board = new Board({
  items,
  isNewest: !new URLSearchParams(location.search).has('cursor'),
  mustWait: () => paused || (!isStage && (document.scrollingElement?.scrollTop ?? 0) > readingFrom),
  onArrived: (item, summary) => {
    announce(summary)
    stage?.show(item)
  },
  onChanged: () => {
    updateTimes()
    pack?.()
    stage?.changed()
  },
})

const showConnection = () => {
  connection.textContent = paused ? words.paused : isLive ? words.live : words.connecting
  byId('live').classList.toggle('on', isLive && !paused)
}

const showState = (state: string) => {
  const { dataset } = document.body
  if (dataset['state'] === state) return
  dataset['state'] = state
  byId('state').hidden = state !== 'closed'
  byId('live').hidden = state !== 'open'
  if (state === 'closed') byId('said').textContent = byId('state').textContent
  // What an empty page says depends on the state.
  if (items.childElementCount === 0) board.refreshSoon()
}

pauseButton.addEventListener('click', () => {
  paused = !paused
  showConnection()
  pauseButton.textContent = paused ? words.resume : words.pause
  if (!paused) board.showWaiting()
})

const reload = () => setTimeout(() => location.reload(), Math.max(0, reloadAfterMs - performance.now()))

if (stream !== undefined && cursor !== undefined) {
  byId('controls').hidden = false
  followWall(stream, cursor, {
    // The server's own view of an open item.
    onItem: (data) => board.put(data as OpenItem),
    onRemoved: (id) => board.remove(id),
    onReset: () => board.reset(),
    onConnection: (state) => {
      isLive = state === 'live'
      showConnection()
    },
    onState: showState,
    onGone: reload,
  })
}
