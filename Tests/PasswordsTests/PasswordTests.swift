import FerryPasswords
import Testing

@Suite("Passwords")
struct PasswordTests {
  let salt = [UInt8](0..<16)

  @Test("A hash is a PHC string with the parameters in it, and verifies")
  func round() throws {
    let hash = try PasswordHash.make(password: "grün 🛳", salt: salt)
    #expect(hash.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$AAECAwQFBgcICQoLDA0ODw$"))
    #expect(try PasswordHash.verify(password: "grün 🛳", hash: hash))
    #expect(try !PasswordHash.verify(password: "grün 🚢", hash: hash))
    #expect(try !PasswordHash.verify(password: "", hash: hash))
  }

  @Test("A hash made elsewhere with other parameters verifies")
  func known() throws {
    // The reference implementation's own test vector: t=2, m=64 KB, p=1.
    let hash =
      "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
    #expect(try PasswordHash.verify(password: "password", hash: hash))
    #expect(try !PasswordHash.verify(password: "Password", hash: hash))
  }

  @Test(
    "What is no hash is named so, not taken for a wrong password",
    arguments: [
      "", "secret", "$argon2id$", "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1a",
      "$argon2id$v=19$m=x,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
      "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$!!!!",
    ])
  func noHash(_ text: String) {
    let error = #expect(throws: PasswordError.self) {
      try PasswordHash.verify(password: "a", hash: text)
    }
    #expect(error?.code == .notAHash)
  }

  @Test("A stored hash cannot ask for a gigabyte")
  func costly() {
    let error = #expect(throws: PasswordError.self) {
      try PasswordHash.verify(
        password: "a", hash: "$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y"
      )
    }
    #expect(error?.code == .tooCostly)
  }

  @Test("A short salt and an endless password are refused")
  func bounds() {
    let short = #expect(throws: PasswordError.self) {
      try PasswordHash.make(password: "a", salt: [1, 2, 3])
    }
    #expect(short?.code == .saltTooShort)
    let long = #expect(throws: PasswordError.self) {
      try PasswordHash.make(password: String(repeating: "a", count: 1025), salt: salt)
    }
    #expect(long?.code == .passwordTooLong)
  }

  @Test("A desk does the same away from the caller's thread")
  func desk() async throws {
    let desk = PasswordDesk()
    let hash = try await desk.make(password: "a", salt: salt)
    #expect(try await desk.verify(password: "a", hash: hash))
    #expect(try await !desk.verify(password: "b", hash: hash))
  }
}
