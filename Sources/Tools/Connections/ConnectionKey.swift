/// The keys of a connections file, for the reader, its hints and the documentation.
package struct ConnectionKey: Sendable, Hashable {
  package let name: String
  /// What it is for, as the documentation says it.
  package let text: String

  init(_ name: String, _ text: String) {
    self.name = name
    self.text = text
  }

  /// Of the file.
  package static let file: [ConnectionKey] = [
    ConnectionKey(
      "default",
      "the connection of entities that name none. A file with one connection need not have it"),
    ConnectionKey("connections", "each connection under its name, which is an identifier"),
  ]

  /// Of a connection.
  package static let connection: [ConnectionKey] = [
    ConnectionKey(
      "address",
      "`sqlite:FILE`, `postgres:DATABASE`, `mariadb:DATABASE`, `odata:HTTP ADDRESS` or "
        + "`rest:HTTP ADDRESS`; without a password"),
    ConnectionKey(
      "mapping",
      "for `rest:`: the file of the mapping. Without it `<package>.rest.json` beside the model, or the "
        + "one that was deployed with it"),
    ConnectionKey("credentials", "what the technical user logs in with; see below"),
    ConnectionKey(
      "users",
      "how a change is sent as the user who made it; see below. Without it all changes are "
        + "sent as the technical user"),
    ConnectionKey(
      "allowPlainPasswords",
      "`true` lets passwords and tokens travel over `http` to a host that is not this machine"),
    ConnectionKey(
      "authority", "certificates (PEM) to trust for this service in place of the system's"),
    ConnectionKey(
      "certificate", "the client certificate with its key, a file of PKCS#12 (`.p12`, `.pfx`)"),
    ConnectionKey("certificatePassword", "the password of that file, a secret"),
    ConnectionKey(
      "proxy", "`http://HOST:PORT`, or `none`; without it the environment decides"),
    ConnectionKey("limits", "see below"),
  ]

  /// Of `credentials`.
  package static let credentials: [ConnectionKey] = [
    ConnectionKey("user", "the name of the technical user"),
    ConnectionKey("password", "its password, a secret"),
    ConnectionKey("token", "in place of both: an access token (`Authorization: Bearer`), a secret"),
    ConnectionKey("header", "in place of them: the name of a header that carries a key"),
    ConnectionKey("key", "the value of that header, a secret"),
    ConnectionKey(
      "client", "in place of them: the `client_id` of OAuth 2 with client credentials"),
    ConnectionKey("clientSecret", "its secret"),
    ConnectionKey("tokenAddress", "where its tokens are given; one is renewed before it ends"),
    ConnectionKey("scope", "the `scope` that is asked for"),
    ConnectionKey("resource", "the `resource` or API that the token is for"),
  ]

  /// Of a secret.
  package static let secret: [ConnectionKey] = [
    ConnectionKey("environment", "the name of a variable of the environment of `ferryd`"),
    ConnectionKey(
      "file", "a file that only its owner can read; a line feed at its end does not count"),
  ]

  /// Of `users`.
  package static let users: [ConnectionKey] = [
    ConnectionKey("way", "`tokenExchange`, `jwtBearer` or `sealedPasswords`"),
    ConnectionKey("tokenAddress", "where tokens are given (not for `sealedPasswords`)"),
    ConnectionKey("key", "the private key that signs, a file (PEM, EC P-256 or RSA)"),
    ConnectionKey("keyID", "the `kid` of the signature's header"),
    ConnectionKey("issuer", "the `iss` of what is signed"),
    ConnectionKey("audience", "the `aud` of what is signed; without it `tokenAddress`"),
    ConnectionKey("client", "the `client_id`, where the service that gives tokens wants one"),
    ConnectionKey("clientSecret", "its secret"),
    ConnectionKey("scope", "the `scope` that is asked for"),
    ConnectionKey("resource", "the `resource` or API that a token is exchanged for"),
    ConnectionKey(
      "passwords", "for `sealedPasswords`: the file that `ferry credential set` writes"),
    ConnectionKey("passwordKey", "its key, a secret of 32 bytes as 64 hexadecimal digits"),
  ]

  /// Of `limits`.
  package static let limits: [ConnectionKey] = [
    ConnectionKey("requests", "requests under way at a time (6)"),
    ConnectionKey("connectSeconds", "until a connection is made (10)"),
    ConnectionKey("idleSeconds", "without a byte (60)"),
    ConnectionKey("totalSeconds", "for one request and its answer (600)"),
    ConnectionKey(
      "lateSeconds", "how long after a lost answer its request may still arrive (120)"),
  ]
}
