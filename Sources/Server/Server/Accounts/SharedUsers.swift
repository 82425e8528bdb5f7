/// The users of one server: their sessions and devices are the same, whichever of its packages they
/// use.
///
/// Used from the one thread of the packages' services.
package final class SharedUsers {
  /// What the tokens of issuers said of their users.
  let tokenUsers = TokenUsers()
  var sessions = SessionMemory()
  private var known: [Known] = []
  /// Served no more, and perhaps still performing.
  private var ending: [Known] = []
  /// A package has an event for another one that is not handed out.
  private var isTold = false

  private struct Known { weak var service: (any ServedPackageService)? }

  package init() {}

  func add(_ service: any ServedPackageService) {
    known.removeAll { $0.service == nil }
    known.append(Known(service: service))
  }

  /// A package that is served no more. A call of the business system may be under way for it: until
  /// `ended`, nobody else performs its operations.
  func remove(_ service: any ServedPackageService) {
    known.removeAll { $0.service == nil || $0.service === service }
    ending.removeAll { $0.service == nil || $0.service === service }
    ending.append(Known(service: service))
  }

  /// Nothing more is performed for a package that was removed.
  func ended(_ service: any ServedPackageService) {
    ending.removeAll { $0.service == nil || $0.service === service }
  }

  /// Whether some service of this package is there that performs operations, or ends one.
  func mayPerform(_ package: String) -> Bool {
    (known + ending).contains { $0.service?.accounts.package.id == package }
  }

  /// In the order in which they began.
  var services: [any ServedPackageService] { known.compactMap(\.service) }

  var accounts: [Accounts] { services.map(\.accounts) }

  /// Each package of the server has its own exchanges.
  func tellAll(_ event: ServiceEvent) {
    isTold = true
    for accounts in accounts { accounts.core.tell(event) }
  }

  func tellOthers(_ event: ServiceEvent, than own: Accounts) {
    for accounts in accounts where accounts !== own {
      isTold = true
      accounts.core.tell(event)
    }
  }

  /// At the end of a package's call: its events for other packages go to their exchanges and drivers.
  func handOut() {
    while isTold {
      isTold = false
      for service in services { service.handOut() }
    }
  }
}

/// A package of a server, as the server's other packages know it.
protocol ServedPackageService: AnyObject {
  var accounts: Accounts { get }

  /// Hands out the events of the package.
  func handOut()

  /// How many operations of the device have no answer.
  func unanswered(of owner: Owner) -> Int
}
