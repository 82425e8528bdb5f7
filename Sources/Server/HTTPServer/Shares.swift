import FerryHTTP

/// Room that all requests share, and how much of it one user and one address may take.
///
/// Who has taken a share is refused; the others do not notice. A part is kept free for logins.
struct Shares {
  /// Why nothing more can be taken.
  enum Refusal: Error, Equatable {
    /// The caller has a share, and it is taken.
    case own
    /// All that is not kept free is taken, by many.
    case all
  }

  /// How much there is, and how much of it may be taken by whom.
  struct Bounds {
    var inAll: Int
    /// All but what is kept free for logins.
    var besideLogins: Int
    var perUser: Int
    var perAddress: Int
  }

  let bounds: Bounds
  private(set) var taken = 0
  private var users: [[UInt8]: Int] = [:]
  private var addresses: [[UInt8]: Int] = [:]

  init(_ bounds: Bounds) { self.bounds = bounds }

  /// Nil where it was taken; `release` has to follow.
  mutating func take(_ count: Int, for caller: HTTPCaller) -> Refusal? {
    let user = caller.user.map { Array($0.utf8) }
    let address = caller.address.map { Array($0.utf8) }
    if let user, users[user, default: 0] + count > bounds.perUser { return .own }
    if let address, addresses[address, default: 0] + count > bounds.perAddress { return .own }
    let room = caller.usesReserve ? bounds.inAll : bounds.besideLogins
    guard taken + count <= room else { return .all }
    taken += count
    if let user { users[user, default: 0] += count }
    if let address { addresses[address, default: 0] += count }
    return nil
  }

  mutating func release(_ count: Int, for caller: HTTPCaller) {
    taken -= count
    if let user = caller.user { Shares.lower(&users, Array(user.utf8), count) }
    if let address = caller.address { Shares.lower(&addresses, Array(address.utf8), count) }
  }

  private static func lower(_ counts: inout [[UInt8]: Int], _ key: [UInt8], _ count: Int) {
    let left = counts[key, default: 0] - count
    counts[key] = left > 0 ? left : nil
  }
}
