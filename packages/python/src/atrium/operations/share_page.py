"""Operations: Share page."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from typing import Any, Literal

from .._core import Core, Route
from ..answer import Answer


class SharePageOperations(Core):
    """Share page: see /docs of your installation for the guides."""

    def render_collection(
        self,
        id: str,
        *,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[str]:
        """The share page.

        A complete HTML page for anyone with the link: share_title, share_description, theme and the published hero
        artifact; never items or unpublished artifacts. Carries Open Graph, a Twitter card and oEmbed discovery;
        works without JavaScript; ETag and 304. Its own words are in the language that Accept-Language prefers:
        English, German, Spanish, French, Japanese or Arabic. An unknown collection is a 404 page, also HTML. An
        error is a page if Accept has text/html, and JSON otherwise.

        Needs: No key.

        Args:
            id: The id (col_…).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The page.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, NotFoundError.

        Example:
            answer = atrium.render_collection("col_…")
        """
        return self._call(
            Route("GET", "/v1/collections/{id}/render", "anyone", raw=True),
            path={"id": id},
            repeatable=repeatable,
            timeout=timeout,
        )

    def render_wall(
        self,
        id: str,
        *,
        layout: Literal["cards", "book", "stage"] | None = None,
        cursor: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[str]:
        """The wall.

        A complete HTML page of the open items (approved, not archived, access `open`) of a collection whose `wall`
        is true, for anyone with the link, newest first, 60 on a page.

        It updates itself from `GET /collections/{id}/wall/stream`, and without JavaScript is a list with pages. It
        has the title, description and theme of the share page. Of an item it shows `title`, `text` (or `message`,
        `body`, `comment`, `note`), `emoji`, the author and, by `artifact_id`, a published open picture of the same
        collection; other objects are shown as names and values.

        May be framed by any site. ETag and 304. Its own words are in the language that Accept-Language prefers, as
        those of the share page. A collection without a wall is a 404 page, also HTML. Errors are answered as those
        of the share page. Unknown parameters are ignored.

        Needs: No key.

        Args:
            id: The id (col_…).
            layout: cards: side by side. book: one below the other. stage: one at a time, for a projector. Default:
                metadata.wall_layout, or cards.
            cursor: meta.next_cursor of the previous page, unchanged.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The page.

        Raises:
            AtriumError: InvalidCursorError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, NotFoundError.

        Example:
            answer = atrium.render_wall("col_…")
        """
        return self._call(
            Route("GET", "/v1/collections/{id}/wall", "anyone", raw=True),
            path={"id": id},
            query={"layout": layout, "cursor": cursor},
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_oembed(
        self,
        *,
        url: str,
        format: Literal["json"] | None = None,
        maxwidth: int | None = None,
        maxheight: int | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[Any]:
        """oEmbed of a share page or wall.

        oEmbed 1.0 (JSON only) for the address of a share page or wall of this installation.

        Needs: No key.

        Args:
            url: The address of the page.
            format: Literal["json"].
            maxwidth: int.
            maxheight: int.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The oEmbed response in the format of the standard.

        Raises:
            AtriumError: NotFoundError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError.

        Example:
            answer = atrium.get_oembed(url=…)
        """
        return self._call(
            Route("GET", "/v1/oembed", "anyone", raw=True),
            query={"url": url, "format": format, "maxwidth": maxwidth, "maxheight": maxheight},
            repeatable=repeatable,
            timeout=timeout,
        )
