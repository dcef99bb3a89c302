import { useEffect, useState } from 'preact/hooks'
import { signCard } from '@atrium/room-client/room-device'
import { failureWords } from '../api/failure-words.ts'
import { ownDevice } from '../identity/room-device.ts'
import { ShareLink } from '../components/share-link.tsx'
import { Problem } from '../components/problem.tsx'
import { ListedChannel } from '../room/listed-channel.ts'
import { readSecondDevice } from '../room/second-device.ts'
import { ownerIn, type RoomLink } from '../room-link.ts'
import { hashOf, invitationLink } from '../service.ts'
import { t } from '../text/text.ts'
import { Notice } from './notice.tsx'

/**
 * On a device that is not on the list: what it shows to the device of the same person that is, and whose link it has opened.
 * Its card names that device, because everybody who sees the card could claim it otherwise.
 */
export function SecondDevice({ link }: { link: RoomLink }) {
  const { room, first } = link
  const [shown, setShown] = useState<{ card: string; code: string }>()
  useEffect(() => {
    if (first === undefined) return
    void ownDevice(room).then(async ({ device }) => {
      setShown({ card: await signCard(device, room, undefined, first), code: codeOf(device.signing.thumbprint) })
    })
  }, [room, first])
  const words = t.sealed.secondDevice
  if (first !== undefined && !shown) return null
  return (
    <section class="second-device" aria-labelledby="second-device">
      <h2 id="second-device">{words.waitTitle}</h2>
      <p>{shown ? words.waitHint : words.firstHint}</p>
      {shown && (
        <>
          <ShareLink title={undefined} link={invitationLink(`${room}~~${ownerIn(link)}~${shown.card}`)} label={words.label} />
          <p class="hint">{words.code(shown.code)}</p>
        </>
      )}
    </section>
  )
}

/** On a device that is on the list: the link of another device, which this one names if its member says so. */
export function NameDevice({ fragment }: { fragment: string }) {
  const [device, setDevice] = useState<Awaited<ReturnType<typeof readSecondDevice>>>()
  const [step, setStep] = useState<'ask' | 'busy' | 'done'>('ask')
  const [problem, setProblem] = useState<string>()
  const [own, setOwn] = useState<string>()
  useEffect(() => {
    void readSecondDevice(fragment).then(async (read) => {
      if (read !== 'none') setOwn((await ownDevice(read.link.room)).device.signing.thumbprint)
      setDevice(read)
    })
  }, [fragment])
  const words = t.sealed.secondDevice
  if (!device) return null
  if (device === 'none') {
    return (
      <Notice title={t.start.cutTitle}>
        <p>{t.start.cut(<code>#</code>)}</p>
      </Notice>
    )
  }
  if (device.first !== own) {
    return (
      <Notice title={words.otherTitle}>
        <p>{words.other}</p>
      </Notice>
    )
  }
  const { link, card, key } = device
  const name = async () => {
    setStep('busy')
    setProblem(undefined)
    try {
      await (await ListedChannel.open(link)).vouch(card)
      setStep('done')
    } catch (error) {
      const { title, text } = failureWords(error)
      setProblem(t.titled(title, text))
      setStep('ask')
    }
  }
  if (step === 'done') {
    return (
      <Notice title={words.done}>
        <p>{words.doneHint}</p>
        <p>
          <a class="button" href={hashOf(link)}>
            {words.back}
          </a>
        </p>
      </Notice>
    )
  }
  return (
    <Notice title={words.title}>
      <p>{words.hint}</p>
      <p>{words.code(codeOf(key))}</p>
      <div class="buttons">
        <button
          class="button primary"
          type="button"
          aria-disabled={step === 'busy'}
          onClick={() => step === 'ask' && void name()}
        >
          {step === 'busy' ? words.adding : words.add}
        </button>
      </div>
      <Problem text={problem} />
    </Notice>
  )
}

/**
 * The code that both screens show. The service sees the thumbprint of a new device before the person compares the
 * codes. So the code has 96 bits: nobody can make another key with the same code, even in months.
 */
function codeOf(thumbprint: string): string {
  return [0, 4, 8, 12].map((at) => thumbprint.slice(at, at + 4)).join(' ')
}
