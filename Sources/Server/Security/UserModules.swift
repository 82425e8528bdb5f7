public import FerryServer

/// Users of a user file, or of another provider that knows them without asking far away: also those who
/// log in with a certificate.
public struct UserFileModule: LoginModule {
  public let kind: String
  public let looksUpUsers: Bool = true
  private let users: any AuthenticationProvider

  public init(_ users: any AuthenticationProvider, kind: String = "userFile") {
    self.users = users
    self.kind = kind
  }

  public func judge(user: String, password: String) -> LoginOutcome {
    do throws(ServerError) {
      return .accepted(try users.authenticate(user: user, password: password))
    } catch {
      return error.isTransient ? .away(error.message) : .refused("name or password is wrong")
    }
  }

  public func record(of user: String) -> UserRecord? { users.record(of: user) }
}

/// Whoever calls itself by one name, with any password.
public struct AnonymousModule: LoginModule {
  public let kind = "anonymous"
  public let looksUpUsers: Bool = true
  private let known: UserRecord

  public init(user: String = "anonymous", roles: [String] = []) {
    known = UserRecord(name: user, roles: roles)
  }

  public func judge(user: String, password: String) -> LoginOutcome {
    record(of: user).map { .accepted($0) } ?? .refused("only \(known.name) is anonymous")
  }

  public func record(of user: String) -> UserRecord? {
    user.utf8.elementsEqual(known.name.utf8) ? known : nil
  }
}
