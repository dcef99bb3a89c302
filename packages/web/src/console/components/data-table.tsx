import type { ComponentChildren } from 'preact'
import type { Pages } from '../api/use-pages.ts'
import { FailureNote } from './failure.tsx'
import { Loading } from './loading.tsx'

interface Column<Row> {
  title: string
  cell: (row: Row) => ComponentChildren
  /** end: numbers and buttons. */
  align?: 'end'
  /** The first column's cell is the row's heading on a phone. */
  wide?: boolean
}

interface DataTableProps<Row> {
  /** For screen readers. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
}

/** A table that turns into a list of cards on a phone. */
export function DataTable<Row>({ caption, columns, rows, keyOf }: DataTableProps<Row>) {
  return (
    <table class="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, align }) => (
            <th key={title} scope="col" class={align}>
              {title === 'Actions' ? <span class="visually-hidden">{title}</span> : title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, align, cell, wide }) => (
              <td key={title} class={`${align ?? ''} ${wide ? 'wide' : ''}`} data-label={title}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface PagedTableProps<Row> extends Omit<DataTableProps<Row>, 'rows'> {
  pages: Pages<Row>
  /** Shown when there are no rows. */
  empty: ComponentChildren
}

/** A table over a paged list, with its loading, empty and error states and a button for the next page. */
export function PagedTable<Row>({ pages, empty, ...table }: PagedTableProps<Row>) {
  const { rows, error, more, isLoadingMore, retry } = pages
  if (rows === undefined) return error === undefined ? <Loading /> : <FailureNote error={error} onRetry={retry} />
  return (
    <>
      {rows.length === 0 ? empty : <DataTable {...table} rows={rows} />}
      {error !== undefined && <FailureNote error={error} onRetry={retry} />}
      {more && (
        <div class="more">
          <button class="button" type="button" disabled={isLoadingMore} onClick={more}>
            {isLoadingMore ? 'Loading…' : 'Load more'}
          </button>
        </div>
      )}
    </>
  )
}
