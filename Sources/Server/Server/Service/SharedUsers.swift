/// The users of one server: their sessions and devices are the same, whichever of its packages they
/// use.
///
/// Used from the one thread of the packages' services.
public final class SharedUsers {
  /// What the tokens of issuers said of their users.
  let tokenUsers = TokenUsers()
  var sessions = SessionMemory()
  private var known: [Known] = []

  private struct Known { weak var service: Service? }

  public init() {}

  func add(_ service: Service) {
    known.removeAll { $0.service == nil }
    known.append(Known(service: service))
  }

  /// A package that is served no more.
  func remove(_ service: Service) {
    known.removeAll { $0.service == nil || $0.service === service }
  }

  /// In the order in which they began.
  var services: [Service] { known.compactMap(\.service) }
}
