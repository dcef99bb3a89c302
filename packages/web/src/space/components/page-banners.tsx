import { noticeStore } from '../notice-store.ts'
import { t } from '../text/text.ts'
import { useStore } from '../use-store.ts'
import { Banner } from './banner.tsx'

/** Problems of the page. An open room and a panel show them, too, because they cover the page. */
export function PageBanners() {
  const { problem, isMissing } = useStore(noticeStore, (value) => value)
  return (
    <>
      {problem !== undefined && (
        <Banner tone="warning" onClose={() => noticeStore.update({ problem: undefined })}>
          {problem}
        </Banner>
      )}
      {isMissing && (
        <Banner tone="warning">
          <p>
            {t.missingCode}{' '}
            <button class="link-button" type="button" onClick={() => location.reload()}>
              {t.reload}
            </button>
          </p>
        </Banner>
      )}
    </>
  )
}
