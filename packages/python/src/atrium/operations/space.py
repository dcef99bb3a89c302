"""Operations: Space."""

# Written by scripts/python-client.ts out of packages/contract.

from __future__ import annotations

from .. import types
from .._core import Core, Route
from ..answer import Answer


class SpaceOperations(Core):
    """Space: see /docs of your installation for the guides."""

    def call_space(
        self,
        *,
        body: types.SpaceRequest,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> Answer[types.SpaceAnswer]:
        """Asynchronous rooms.

        One endpoint without a tenant key; the field `op` selects the operation. Request and answer are flat,
        without the envelope, and never cached. The lines of a room are sealed to its room key, which the operator
        does not have. The Space service answers the same at `POST /space` of its own address.

        `poll` reads, `turn` writes (if the room does not exist, it creates an open one), `sealed` returns the
        stored bytes unchanged, `attest` identifies the running build; `create`, `admit`, `expel`, `rename` and
        `remove` are for the owner of a room.

        `make`, `read` and `append` are for rooms whose lines the clients seal. The service never receives the room
        key: the client derives a signing key from it, whose public part is given with `make`, and signs every
        request. `sealed` and `attest` are the same for both kinds. The kind of a room never changes.

        In a room with policy `email` every read and write needs idToken and spk, which are checked in this order
        before anything is decrypted: the token against the key set of its issuer; its nonce against the thumbprint
        of spk; the account, or the agent, against the list.

        Accounts are proved by the identity provider, agents by the API origin (/.well-known/openid-configuration).
        Neither issuer is accepted in place of the other: with an agent’s token nobody can create a room or change a
        list.

        In an open room an agent that sends its token is named as the author; without a token it is anonymous, like
        any other caller.

        Needs: No key.

        Args:
            body: The request; its type says what it holds.
            repeatable: Whether to retry where no answer came or the server was unavailable.
            timeout: The limit of one attempt, in seconds. Default: that of the client.

        Returns:
            200: The answer to the op. The alternatives are in the order of the ops.

        Raises:
            AtriumError: InvalidRequestError, NotAuthorizedError, NotFoundError, RoomExistsError,
                PayloadTooLargeError, RateLimitedError, InternalError, UnavailableError.

        Example:
            answer = atrium.call_space(body={
                "op": "turn",
                "room": "lantern-night",
                "mk": "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA",
                "message": {"text": "The lamps are lit."},
            })
        """
        return self._call(
            Route("POST", "/v1/space", "anyone", raw=True),
            body=body,
            repeatable=repeatable,
            timeout=timeout,
        )
