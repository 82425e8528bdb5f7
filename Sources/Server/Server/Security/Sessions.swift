import FerryCrypto
import FerryModel
import FerryText
import FerryWorld

/// The logins of users on their devices, and the long-lived tokens that renew them.
///
/// A token names its session and has a number and a seal over both. So a session is one row however
/// often it is renewed, a successor can be given again, and each token that ever was is recognised.
/// The store holds no token; who has the store alone can make none.
struct Sessions {
  /// From the login on, however often it is renewed.
  static let greatestAge: Duration = .seconds(60 * 86_400)

  let store: any Store
  let world: World
  let keys: KeyRing
  let repeats = RefreshRepeats()

  /// What a refresh token leads to.
  enum Renewal {
    case renewed(StoredSession, token: String, isRepeat: Bool)
    /// A token whose successor was used: the session has ended now.
    case reused(StoredSession)
    /// It has ended before, or is too old.
    case over(StoredSession)
    case unknown
  }

  /// `key`: the public key of the device. The session's name has it, so no renewal can change it.
  func begin(
    user: String, device: String, stamp: String, key: [UInt8]? = nil
  ) throws(StoreError) -> (session: StoredSession, token: String) {
    let now = world.clock.now.milliseconds
    let binding = key.map { String(Sessions.keyMark) + TokenProof.name(of: $0) } ?? ""
    let session = StoredSession(
      id: hexadecimal(world.chance.bytes(16)) + binding, user: user, device: device, used: 0,
      begun: now,
      renewed: now, stamp: stamp, ended: nil)
    try store.keep(session)
    return (session, token(of: session.id, 1))
  }

  /// Before the name of the key in the name of a session; no hexadecimal digit.
  private static let keyMark: Character = "k"

  /// A session with a key is renewed with its proof only.
  func renew(
    _ text: String, device: String, proof: TokenProof? = nil
  ) throws(StoreError) -> Renewal {
    guard let (id, number) = read(text) else { return .unknown }
    let key = id.firstIndex(of: Sessions.keyMark).map { String(id[id.index(after: $0)...]) }
    if let key {
      guard let proof, proof.proves(text, for: key) else { return .unknown }
    }
    let machine = RefreshMachine(bounds: key == nil ? .unbound : .bound)
    return try store.transaction { () throws(StoreError) in
      guard var session = try store.session(id), session.device.hasBytes(of: device) else {
        return .unknown
      }
      guard session.ended == nil, !isTooOld(session) else { return .over(session) }
      let now = world.clock.now
      let verdict = machine.judge(
        number, used: session.used, since: Timestamp(milliseconds: session.renewed), now: now,
        &repeats[id])
      switch verdict {
      case .reused:
        session.ended = Ending.reused
        try store.keep(session)
        return .reused(session)
      case .next(let next):
        session.used = max(session.used, number)
        session.renewed = now.milliseconds
        try store.keep(session)
        return .renewed(session, token: token(of: id, next), isRepeat: false)
      case .again(let next):
        // The first use of the token counts, where time does.
        if machine.bounds.time == nil { session.renewed = now.milliseconds }
        try store.keep(session)
        return .renewed(session, token: token(of: id, next), isRepeat: true)
      }
    }
  }

  /// The session that a token names, whatever became of it.
  func session(ofToken text: String) throws(StoreError) -> StoredSession? {
    guard let (id, _) = read(text) else { return nil }
    return try store.session(id)
  }

  func isTooOld(_ session: StoredSession) -> Bool { end(of: session) <= world.clock.now }

  func end(of session: StoredSession) -> Timestamp {
    Timestamp(milliseconds: session.begun).advanced(by: Sessions.greatestAge)
  }

  /// Those that nobody can renew.
  func forgetOld() throws(StoreError) {
    let first = world.clock.now.advanced(by: .zero - Sessions.greatestAge)
    try store.forgetSessions(begunBefore: first.milliseconds)
  }

  /// Why sessions end; kept in the store and in the audit log.
  enum Ending {
    static let reused = "reused"
    static let loggedOut = "loggedOut"
    static let userRemoved = "userRemoved"
    static let credentialsChanged = "credentialsChanged"
    static let forgotten = "forgotten"
    static let inactive = "inactive"
  }

  // Tokens: `fr1.<session>.<number>.<seal>`.

  private func token(of id: String, _ number: Int64) -> String {
    let text = "fr1.\(id).\(number)"
    let key = keys.current(now: world.clock.now)
    return "\(text).\(Base64.encode(SHA256Digest.authenticate(Array(text.utf8), key: key), .url))"
  }

  private func read(_ text: String) -> (id: String, number: Int64)? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    // A token of before: 32 random bytes, whose session is named by their hash.
    if parts.count == 1, text.utf8.count == 64 {
      return (hexadecimal(SHA256Digest.hash(Array(text.utf8))), 0)
    }
    guard parts.count == 4, parts[0] == "fr1", let number = Int64(parts[2]), number > 0,
      number < .max,
      // The one spelling of a number, or a token would have two texts.
      String(number) == parts[2], let seal = Base64.decode(parts[3].utf8, .url),
      Base64.encode(seal, .url) == parts[3],
      keys.opens(seal, of: Array("fr1.\(parts[1]).\(parts[2])".utf8))
    else { return nil }
    return (parts[1], number)
  }
}
