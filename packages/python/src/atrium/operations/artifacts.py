"""Operations: Artifacts."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from typing import Literal

from .. import types
from .._core import Core, Route
from ..answer import Answer, Page


class ArtifactsOperations(Core):
    """Artifacts: see /docs of your installation for the guides."""

    def list_artifacts(
        self,
        id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        x_id_token: str | None = None,
        x_spk: str | None = None,
        collection_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Page[list[types.Artifact], types.Artifact]:
        """List artifacts.

        Oldest first. With the owner token: every artifact, with its status. Otherwise: artifacts that are
        published, approved, not archived and `open`. With X-Id-Token and X-Spk the list adds artifacts that are
        granted to that account; such a page may be shorter than `limit` with more to follow.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            limit: The largest number of entries. A page of large entries ends earlier, with a next_cursor. Default:
                50.
            cursor: meta.next_cursor of the previous page, unchanged.
            x_id_token: ID token (RS256) of the identity provider.
            x_spk: Public JWK (EC P-256) of the device, as JSON.
            collection_token: The owner token, which shows more.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: A page of artifacts.

        Raises:
            AtriumError: InvalidCursorError, NotAuthorizedError, InvalidRequestError, RateLimitedError,
                InternalError, UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                TenantSuspendedError, SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, NotFoundError.

        Example:
            answer = atrium.list_artifacts("col_…")
        """
        return self._page(
            Route("GET", "/v1/collections/{id}/artifacts", "publishable"),
            path={"id": id},
            query={"limit": limit, "cursor": cursor},
            headers={"x-id-token": x_id_token, "x-spk": x_spk},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def create_artifact(
        self,
        id: str,
        *,
        body: types.ArtifactCreate,
        collection_token: str,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CreateArtifactData]:
        """Add an artifact by URL.

        Attaches an output that is already hosted, at an https URL or a URL of this installation. The artifact is
        ready at once and not published.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            body: The request: kind, url, title (optional), alt (optional).
            collection_token: The owner token (admin_token).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The id.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.create_artifact("col_…", body={
                "kind": "image",
                "url": "https://pictures.example/lantern-night.webp",
                "title": "Lantern night",
                "alt": "A harbour at dusk under paper lanterns",
            }, collection_token="cat_…")
        """
        return self._call(
            Route("POST", "/v1/collections/{id}/artifacts", "publishable", keyed="createArtifact"),
            path={"id": id},
            body=body,
            collection_token=collection_token,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_artifact(
        self,
        id: str,
        artifact_id: str,
        *,
        x_id_token: str | None = None,
        x_spk: str | None = None,
        collection_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Artifact]:
        """Read an artifact.

        The owner can read any artifact. Others need one that is published, approved and not archived, and its
        access decides: `open` is for anyone; `email` needs X-Id-Token and X-Spk, as for an item, else 403
        `not_authorized` with error.reason; `owner` is 404.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            artifact_id: The id (art_…).
            x_id_token: ID token (RS256) of the identity provider.
            x_spk: Public JWK (EC P-256) of the device, as JSON.
            collection_token: The owner token, which shows more.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The artifact.

        Raises:
            AtriumError: NotAuthorizedError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                NotFoundError.

        Example:
            answer = atrium.get_artifact("col_…", "art_…")
        """
        return self._call(
            Route("GET", "/v1/collections/{id}/artifacts/{artifactId}", "publishable"),
            path={"id": id, "artifactId": artifact_id},
            headers={"x-id-token": x_id_token, "x-spk": x_spk},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def curate_artifact(
        self,
        id: str,
        artifact_id: str,
        *,
        body: types.ArtifactCurationPatch,
        collection_token: str,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.CurateArtifactData]:
        """Publish or curate an artifact.

        The share page shows the published hero. Setting hero clears the previous hero in the same transaction. An
        artifact that is not approved, or is archived, is visible only to the owner even when published. `access`
        decides who can see it once it is published; the share page shows only `open` artifacts. `grant` and
        `revoke` are e-mail addresses, which are stored sealed. A revoked account gets error.reason `revoked`.
        `title` and `alt` can be changed at any time.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            artifact_id: The id (art_…).
            body: The request: published (optional), hero (optional), approved (optional), archived (optional),
                access (optional), grant (optional), revoke (optional), title (optional), alt (optional).
            collection_token: The owner token (admin_token).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The artifact.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.curate_artifact("col_…", "art_…", body={"published": True, "hero": True}, collection_token="cat_…")
        """
        return self._call(
            Route("PATCH", "/v1/collections/{id}/artifacts/{artifactId}", "publishable"),
            path={"id": id, "artifactId": artifact_id},
            body=body,
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def delete_artifact(
        self,
        id: str,
        artifact_id: str,
        *,
        collection_token: str,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[None]:
        """Delete an artifact.

        Deletes the artifact permanently, and its stored bytes within seconds.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            artifact_id: The id (art_…).
            collection_token: The owner token (admin_token).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            204: Gone.

        Raises:
            AtriumError: InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError.

        Example:
            answer = atrium.delete_artifact("col_…", "art_…", collection_token="cat_…")
        """
        return self._call(
            Route("DELETE", "/v1/collections/{id}/artifacts/{artifactId}", "publishable"),
            path={"id": id, "artifactId": artifact_id},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def paint_artifact(
        self,
        id: str,
        *,
        body: types.PaintArtifactBody,
        collection_token: str,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ArtifactStarted]:
        """Paint an image.

        Starts painting and returns at once. Poll the artifact until its status is `ready`, `failed` or
        `quota_exceeded`.

        Without a key for the provider the built-in painter draws: the same picture for the same prompt, size and
        seed. Without a seed a random one is chosen; the artifact contains it.

        With publishable keys each IP address and each collection may paint 200 times a day, and together they may
        use a tenth of the monthly allowance per day, unless the operator sets other limits; beyond that the answer
        is 429 `rate_limited`. If the quota of stored bytes is used up, it is 413 `quota_exceeded`.

        A used-up provider quota or monthly allowance (of paintings without a coupon) ends as `quota_exceeded`,
        other failures as `failed` with a code.

        The price is held on the coupon at the start, captured when the artifact is ready, and released otherwise.
        The picture is copied into our storage. Beyond 200 artifacts of a tenant that are queued or being made: 429
        with `Retry-After`.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            body: The request: prompt, size (optional), provider (optional), model (optional), seed (optional),
                coupon (optional).
            collection_token: The owner token (admin_token).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            202: Painting has started.

        Raises:
            AtriumError: InsufficientCreditError, QuotaExceededError, InvalidRequestError, RateLimitedError,
                InternalError, UnavailableError, RequestTimeoutError, HeadersTooLargeError, UnauthorizedError,
                TenantSuspendedError, SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError,
                RoleNotAllowedError, OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError,
                IdempotencyKeyReusedError, IdempotencyInProgressError, IdempotencyKeyRequiredError.

        Example:
            answer = atrium.paint_artifact("col_…", body={
                "prompt": "A harbour at dusk under paper lanterns",
                "size": "1536x1024",
                "seed": 7,
            }, collection_token="cat_…")
        """
        return self._call(
            Route("POST", "/v1/collections/{id}/paint", "publishable", keyed="paintArtifact", billed=True),
            path={"id": id},
            body=body,
            collection_token=collection_token,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def produce_artifact(
        self,
        id: str,
        *,
        body: types.ProduceArtifactBody,
        collection_token: str,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.ArtifactStarted]:
        """Produce a card or a clip.

        Makes an artifact from the contents of the collection and returns at once. Poll the artifact as after
        painting.

        A card is a 1200×630 PNG set with real type; a clip is an animated WebP of the chosen images, in the order
        given. An item or artifact that is not of this collection is 400. Without `items` and `artifacts` the heroes
        are used.

        A picture may have up to 64 MiB, and 16 MiB if it is hosted elsewhere; with a larger one the artifact fails
        with `picture_too_large`. Beyond 200 artifacts of a tenant that wait or are being made: 429 with
        `Retry-After`. If the quota of stored bytes is used up, it is 413 `quota_exceeded`.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            body: The request: kind, title (optional), items (optional), artifacts (optional), template (optional).
            collection_token: The owner token (admin_token).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            202: Production has started.

        Raises:
            AtriumError: QuotaExceededError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.produce_artifact("col_…", body={"kind": "card", "title": "Lantern night"}, collection_token="cat_…")
        """
        return self._call(
            Route("POST", "/v1/collections/{id}/produce", "publishable", keyed="produceArtifact"),
            path={"id": id},
            body=body,
            collection_token=collection_token,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def upload_artifact(
        self,
        id: str,
        *,
        body: types.UploadArtifactBody,
        collection_token: str,
        idempotency_key: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.UploadArtifactData]:
        """Begin an upload.

        Returns a presigned URL for the bytes. Send them there with the returned method and headers, then call
        `ready`; both steps are required. Type and length are signed, so that nothing else can be stored.

        An upload that is not completed before `expires_at` is removed together with its artifact.

        A collection can have 100 open uploads, and a tenant 1,000 with 20 GiB in total. With publishable keys, an
        IP address can have at most as many as remain free for others. Beyond that the answer is 429 `rate_limited`.
        A tenant can store and announce 20 GiB in total, and an IP address can announce 1 GiB per day with
        publishable keys, unless the operator sets other limits; beyond that the answer is 413 `quota_exceeded`.

        A `clip` may have any of the types; the other kinds are images. A picture may have up to 51,200,000 pixels
        and 20,000 on a side; an animation (GIF, WebP) up to 300 frames with 100,000,000 pixels in total.

        Formats that are decoded as a whole need more memory per pixel and have lower limits: an AVIF may have
        14,900,000 pixels, and a progressive JPEG of the full size must be upright. An animated AVIF is rejected,
        and only the first frame of an animated PNG is kept.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            body: The request: kind, mime, bytes, sha256 (optional), title (optional), alt (optional).
            collection_token: The owner token (admin_token).
            idempotency_key: 1 to 255 printable ASCII characters. Default: a fresh one, the same for all attempts.
                Store one of your own where the call must take effect once even if your process ends in between.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            201: The artifact, and the upload request for its bytes.

        Raises:
            AtriumError: QuotaExceededError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, UnauthorizedError, TenantSuspendedError,
                SecretKeyInBrowserError, NoConsoleSessionError, CsrfRequiredError, RoleNotAllowedError,
                OwnerTokenRequiredError, NotFoundError, PayloadTooLargeError, IdempotencyKeyReusedError,
                IdempotencyInProgressError.

        Example:
            answer = atrium.upload_artifact("col_…", body={"kind": "image", "mime": "image/webp", "bytes": 48213}, collection_token="cat_…")
        """
        return self._call(
            Route("POST", "/v1/collections/{id}/artifacts/upload", "publishable", keyed="uploadArtifact"),
            path={"id": id},
            body=body,
            collection_token=collection_token,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )

    def mark_artifact_ready(
        self,
        id: str,
        artifact_id: str,
        *,
        collection_token: str,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.Artifact]:
        """Complete an upload.

        Checks the length, the hash and the real type of the uploaded bytes (detected from the bytes), and makes the
        artifact `ready`. A picture loses its metadata: EXIF (with the location), XMP, IPTC and comments are
        removed; JPEG and PNG are re-encoded, upright and in sRGB; WebP, GIF and AVIF keep their coded pixels.

        `bytes` and `sha256` then describe the served file, and `width` and `height` the displayed picture. A video
        is stored unchanged.

        A mismatch is 409 `upload_mismatch`: the bytes are removed and the artifact is `failed`. If no bytes have
        arrived yet, the code is the same and the upload stays open. On an upload that is ready already it changes
        nothing; on an artifact that was not uploaded it is 409 `state_conflict`.

        If the queue is full, the answer is 503 with `Retry-After`; if the re-encoded picture exceeds the quota of
        stored bytes, it is 413 `quota_exceeded`. In both cases the upload is unchanged.

        Needs: A publishable or a secret key.

        Args:
            id: The id (col_…).
            artifact_id: The id (art_…).
            collection_token: The owner token (admin_token).
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The artifact.

        Raises:
            AtriumError: StateConflictError, UploadMismatchError, QuotaExceededError, InvalidRequestError,
                RateLimitedError, InternalError, UnavailableError, RequestTimeoutError, HeadersTooLargeError,
                UnauthorizedError, TenantSuspendedError, SecretKeyInBrowserError, NoConsoleSessionError,
                CsrfRequiredError, RoleNotAllowedError, OwnerTokenRequiredError, NotFoundError,
                PayloadTooLargeError.

        Example:
            answer = atrium.mark_artifact_ready("col_…", "art_…", collection_token="cat_…")
        """
        return self._call(
            Route("POST", "/v1/collections/{id}/artifacts/{artifactId}/ready", "publishable"),
            path={"id": id, "artifactId": artifact_id},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )

    def get_media(
        self,
        artifact_id: str,
        *,
        w: Literal[320, 640, 1280, 1920] | None = None,
        format: Literal["webp", "avif"] | None = None,
        x_id_token: str | None = None,
        x_spk: str | None = None,
        range: str | None = None,
        if_range: str | None = None,
        if_none_match: str | None = None,
        collection_token: str | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[bytes | None]:
        """The bytes of an artifact.

        Needs no credential once the artifact is published, approved, not archived and `open`. If it is `email`
        instead, it needs X-Id-Token and X-Spk of a granted account, else 403 `not_authorized`. Otherwise
        X-Collection-Token must be the owner token of its collection, else 404. A session of the console of its
        tenant takes the place of that token.

        The response has a strong ETag, `Accept-Ranges: bytes` and, for an artifact that anyone may see,
        `Cache-Control: public, max-age=31536000, immutable`, else `private, no-store`. A range beyond the end, or
        several ranges, return the whole file.

        With `w` a picture is returned at that width, as a still image: never enlarged, and never higher than twice
        `w`, so a tall picture is narrower. It is rendered on the first request. If that takes too long, or the
        queue is full, the answer is the original, with `Cache-Control: private, no-store`. A video with `w` is 400.

        Needs: No key.

        Args:
            artifact_id: The id (art_…).
            w: Width in pixels.
            format: With `w`: the type of the smaller picture. Default: "webp".
            x_id_token: ID token (RS256) of the identity provider.
            x_spk: Public JWK (EC P-256) of the device, as JSON.
            range: One byte range (RFC 9110).
            if_range: The ETag that the range belongs to. With another ETag the whole file is returned.
            if_none_match: ETags that the caller has.
            collection_token: The owner token, which shows more.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The bytes.
            206: The requested range of bytes.
            304: Not modified.

        Raises:
            AtriumError: NotAuthorizedError, InvalidRequestError, RateLimitedError, InternalError, UnavailableError,
                RequestTimeoutError, HeadersTooLargeError, NotFoundError.

        Example:
            answer = atrium.get_media("art_…")
        """
        return self._call(
            Route("GET", "/v1/media/{artifactId}", "anyone", raw=True),
            path={"artifactId": artifact_id},
            query={"w": w, "format": format},
            headers={"x-id-token": x_id_token, "x-spk": x_spk, "range": range, "if-range": if_range, "if-none-match": if_none_match},
            collection_token=collection_token,
            repeatable=repeatable,
            timeout=timeout,
        )
