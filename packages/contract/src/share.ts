import { Type } from './type.ts'
import { collectionParams } from './collections.ts'
import { operation } from './operation.ts'
import { anyJson, oneOf, pageQuery } from './schemas.ts'

export const shareOperations = {
  renderCollection: operation({
    id: 'renderCollection',
    kind: 'read',
    method: 'GET',
    path: '/collections/{id}/render',
    status: 'live',
    tag: 'Share page',
    summary: 'The share page',
    description:
      'A complete HTML page for anyone with the link: share_title, share_description, theme and the published hero ' +
      'artifact; never items or unpublished artifacts. Carries Open Graph, a Twitter card and oEmbed discovery; ' +
      'works without JavaScript; ETag and 304. Its own words are in the language that Accept-Language prefers: English, ' +
      'German, Spanish, French, Japanese or Arabic. An unknown collection is a 404 page, also HTML. An error is ' +
      'a page if Accept has text/html, and JSON otherwise.',
    caller: 'anyone',
    params: collectionParams,
    answers: {
      200: { description: 'The page.', data: Type.String(), raw: 'text/html' },
      404: { description: 'The collection does not exist. Also an HTML page.', data: Type.String(), raw: 'text/html' },
    },
  }),
  renderWall: operation({
    id: 'renderWall',
    kind: 'read',
    method: 'GET',
    path: '/collections/{id}/wall',
    status: 'live',
    tag: 'Share page',
    summary: 'The wall',
    description:
      'A complete HTML page of the open items (approved, not archived, access `open`) of a collection whose `wall` is true, for anyone with the ' +
      'link, newest first, 60 on a page.\n\n' +
      'It updates itself from `GET /collections/{id}/wall/stream`, and without JavaScript is a list with pages. It ' +
      'has the title, description and theme of the share page. Of an item it shows `title`, `text` (or `message`, `body`, `comment`, `note`), `emoji`, ' +
      'the author and, by `artifact_id`, a published open picture of the same collection; other objects are shown as names and values.\n\n' +
      'May be framed ' +
      'by any site. ETag and 304. Its own words are in the language that Accept-Language prefers, as those of the share page. A collection without ' +
      'a wall is a 404 page, also HTML. Errors are answered as those of the share page. Unknown parameters are ignored.',
    caller: 'anyone',
    params: collectionParams,
    // Unknown parameters are ignored, because services append some to a shared link, such as `fbclid` and `utm_source`.
    query: Type.Object({
      layout: Type.Optional(
        oneOf(['cards', 'book', 'stage'], {
          description:
            'cards: side by side. book: one below the other. stage: one at a time, for a projector. Default: metadata.wall_layout, or cards.',
        }),
      ),
      cursor: pageQuery.cursor,
    }),
    answers: {
      200: { description: 'The page.', data: Type.String(), raw: 'text/html' },
      404: {
        description: 'There is no such collection, or it has no wall. Also an HTML page.',
        data: Type.String(),
        raw: 'text/html',
      },
    },
    errors: ['invalid_cursor'],
  }),
  getOembed: operation({
    id: 'getOembed',
    kind: 'read',
    method: 'GET',
    path: '/oembed',
    status: 'live',
    tag: 'Share page',
    summary: 'oEmbed of a share page or wall',
    description: 'oEmbed 1.0 (JSON only) for the address of a share page or wall of this installation.',
    caller: 'anyone',
    // Unknown parameters are ignored, because consumers of oEmbed send some, such as `dnt`.
    query: Type.Object({
      url: Type.String({ minLength: 1, maxLength: 2_000, description: 'The address of the page.' }),
      format: Type.Optional(oneOf(['json'])),
      maxwidth: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
      maxheight: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
    }),
    answers: {
      200: {
        description: 'The oEmbed response in the format of the standard.',
        data: anyJson('oEmbed 1.0'),
        raw: 'application/json',
      },
    },
    errors: ['not_found'],
  }),
}
