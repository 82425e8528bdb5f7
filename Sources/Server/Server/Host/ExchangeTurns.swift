import FerryModel

/// Lets few requests at a time into the service, and users take turns: who sends many requests at
/// once waits for their own.
actor ExchangeTurns {
  private let places: Int
  private var taken = 0
  private var lines = UserLines<CheckedContinuation<Void, Never>>()

  /// `places`: requests at a time. Two: one is read while the service works on the other.
  init(places: Int = 2) { self.places = places }

  /// Returns when it is this request's turn; `leave` has to follow.
  func enter(_ user: String) async {
    await withCheckedContinuation { continuation in
      guard taken >= places else {
        taken += 1
        return continuation.resume()
      }
      lines.add(continuation, of: ExactText(user))
    }
  }

  func leave() {
    // The place goes over to who is next.
    if let next = lines.next() { next.resume() } else { taken -= 1 }
  }

  /// How many wait.
  var waiting: Int { lines.count }
}

/// Who waits, each user in a line of their own; the users take turns. Pure.
struct UserLines<Waiter> {
  private var lines: [ExactText: [Waiter]] = [:]
  /// The users that have a line, in the order of their turns.
  private var users: [ExactText] = []
  private(set) var count = 0

  mutating func add(_ waiter: Waiter, of user: ExactText) {
    if lines[user] == nil { users.append(user) }
    lines[user, default: []].append(waiter)
    count += 1
  }

  mutating func next() -> Waiter? {
    guard !users.isEmpty else { return nil }
    let user = users.removeFirst()
    guard var line = lines.removeValue(forKey: user) else { return nil }
    let waiter = line.removeFirst()
    count -= 1
    if !line.isEmpty {
      lines[user] = line
      users.append(user)
    }
    return waiter
  }
}
