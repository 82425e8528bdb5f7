import FerryCrypto
import FerryWorld
import Synchronization

/// Pictures whose text a person has to write before an app registers. Each is good for one attempt
/// within five minutes; a user gets three in that time. They are in memory alone.
final class Captchas: Sendable {
  struct Challenge: Sendable {
    let id: String
    let picture: [UInt8]
  }

  enum Verdict: Equatable {
    case right
    /// Wrong text, or a picture that is used, too old, or another user's.
    case wrong
  }

  static let lifetime: Duration = .seconds(300)
  static let mostPerUser = 3
  static let letters = 6
  static let most = 10_000

  private struct Open {
    let user: String
    let application: String
    let text: String
    let end: Timestamp
  }

  private let world: World
  private let open = Mutex<[String: Open]>([:])
  /// By user: when the pictures of the last five minutes were made.
  private let made = Mutex<[String: [Timestamp]]>([:])

  init(_ world: World) { self.world = world }

  /// Nil where the user has had three pictures within five minutes, or too many users ask.
  func challenge(_ user: String, of application: String) -> Challenge? {
    let now = world.clock.moment
    let mayHave = made.withLock { made in
      if made.count >= Captchas.most { made = made.filter { $0.value.contains { now < $0.end } } }
      let recent = (made[user] ?? []).filter { now < $0.end }
      guard recent.count < Captchas.mostPerUser, made.count < Captchas.most || made[user] != nil
      else { return false }
      made[user] = recent + [now]
      return true
    }
    guard mayHave else { return nil }
    let text = String(
      world.chance.bytes(Captchas.letters).map { byte in
        CaptchaPicture.letters[Int(byte) % CaptchaPicture.letters.count]
      })
    let random = world.chance.bytes(CaptchaPicture.randomBytes)
    guard let picture = try? CaptchaPicture.png(text, random) else { return nil }
    let id = hexadecimal(world.chance.bytes(16))
    open.withLock { open in
      open = open.filter { now < $0.value.end }
      open[id] = Open(
        user: user, application: application, text: text,
        end: now.advanced(by: Captchas.lifetime))
    }
    return Challenge(id: id, picture: picture)
  }

  /// Whether the text is that of the picture. The picture is used up, whatever the text.
  func judge(_ text: String, of id: String, by user: String, _ application: String) -> Verdict {
    guard let known = open.withLock({ $0.removeValue(forKey: id) }),
      world.clock.moment < known.end, known.user == user, known.application == application
    else { return .wrong }
    let written = text.uppercased().filter { !$0.isWhitespace }
    guard equalInConstantTime(Array(written.utf8), Array(known.text.utf8)) else { return .wrong }
    _ = made.withLock { $0.removeValue(forKey: user) }
    return .right
  }

  /// The text of a picture, for tests.
  func text(of id: String) -> String? { open.withLock { $0[id]?.text } }
}

extension Timestamp {
  /// Until when a picture of this moment counts.
  fileprivate var end: Timestamp { advanced(by: Captchas.lifetime) }
}
