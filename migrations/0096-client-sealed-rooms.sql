-- The Ed25519 public key of a room whose lines the clients seal, as the x of its JWK (RFC 8037). null: the service seals
-- the lines. It is set when the room is created.
alter table rooms add column access_key text collate "C";
