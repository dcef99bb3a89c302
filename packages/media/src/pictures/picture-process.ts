import { cleanPicture } from './clean-picture.ts'
import { inspectPicture } from './inspect-picture.ts'
import { takeOnlyPictures } from './open-image.ts'
import { PictureError } from './picture-error.ts'
import type { PictureAnswer, PictureJob, PictureResults } from './picture-job.ts'
import { shrinkPicture } from './shrink-picture.ts'

takeOnlyPictures()

process.on('message', (job: PictureJob) => {
  void answer(job).then((told) => process.send?.(told))
})
// Without its parent the result has no recipient, so the process exits even during a picture.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
// Ctrl-C reaches the whole process group: the parent decides when its children stop.
process.on('SIGINT', () => undefined)

async function answer(job: PictureJob): Promise<PictureAnswer> {
  try {
    return { result: await run(job), rssBytes: process.memoryUsage.rss() }
  } catch (error) {
    // An error of the disk, not of the picture.
    if (/ENOSPC|EDQUOT|No space left|quota exceeded/i.test(String(error)))
      return { noRoom: true, rssBytes: process.memoryUsage.rss() }
    // Decoder messages are technical, so the sender gets only the message that the file is damaged.
    const refused = error instanceof PictureError ? error.message : 'The picture is damaged.'
    return { refused, rssBytes: process.memoryUsage.rss() }
  }
}

async function run(job: PictureJob): Promise<PictureResults[keyof PictureResults]> {
  if (job.work === 'inspect') return inspectPicture(job.path)
  if (job.work === 'clean') return cleanPicture(job.path, job.out, job.facts)
  await shrinkPicture(job.path, job.out, job.width, job.format)
  return {}
}
