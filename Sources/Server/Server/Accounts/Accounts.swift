import FerryModel
import FerryWorld

/// Who may do what: sessions, the register of devices, rights and settings.
final class Accounts: ServiceRoom {
  let core: ServiceCore
  /// Shared with the services of the server's other packages.
  let users: SharedUsers
  let sessions: Sessions
  let tokenKeys: KeyRing
  let personalization: Personalization
  /// Verifies the tokens of requests; a value that may go to any thread.
  let accessTokens: AccessTokens
  /// The key files that this start has made: their tokens of before are no good any more.
  var madeKeys: [String] = []
  /// What the register noted of each device last.
  var registered: [Owner: Registration] = [:]
  /// What devices get by which they are registered.
  var templates = Templates()
  /// Who knows each user's rights of now; nil: those with which an operation arrived are all.
  var provider: (any AuthenticationProvider)?
  var visits = Visits()
  /// Whether the driver calls `keepDueVisits`; without it each visit is written at once.
  var collectsVisits = false

  init(core: ServiceCore, users: SharedUsers) throws(ServerError) {
    let (store, world) = (core.store, core.world)
    self.core = core
    self.users = users
    var made: [String] = []
    personalization = Personalization(store: store, package: core.package)
    tokenKeys = try KeyRing("token.key", store) {
      made.append("token.key")
      return world.chance.bytes(32)
    }
    accessTokens = AccessTokens(keys: tokenKeys, server: store.server)
    sessions = Sessions(
      store: store, world: world,
      keys: try KeyRing("refresh.key", store) {
        made.append("refresh.key")
        return world.chance.bytes(32)
      })
    madeKeys = made
  }

  /// What the tokens of issuers said of their users.
  var tokenUsers: TokenUsers { users.tokenUsers }

  /// Takes up what the tokens of issuers said before the start.
  func takeUpTokenUsers() throws(ServerError) {
    for user in try guarded({ () throws(StoreError) in try store.tokenUsers() }) {
      let record = UserRecord(
        name: user.user, roles: user.roles, claims: user.claims,
        packages: user.packages.map { .only($0) } ?? .all)
      _ = tokenUsers.note(
        TokenLogin(record: record, issued: Timestamp(milliseconds: user.issued)))
    }
  }
}
