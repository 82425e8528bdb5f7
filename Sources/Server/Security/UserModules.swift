import FerryServer

/// Users of a user file, or of another provider that knows them without asking far away: also those who
/// log in with a certificate.
package struct UserFileModule: LoginModule {
  package let kind: String
  package let looksUpUsers: Bool = true
  private let users: any AuthenticationProvider

  package init(_ users: any AuthenticationProvider, kind: String = "userFile") {
    self.users = users
    self.kind = kind
  }

  package func judge(user: String, password: String) -> LoginOutcome {
    do throws(ServerError) {
      return .accepted(try users.authenticate(user: user, password: password))
    } catch {
      return error.isTransient ? .away(error.message) : .refused("name or password is wrong")
    }
  }

  package func record(of user: String) -> UserRecord? { users.record(of: user) }
}

/// Whoever calls itself by one name, with any password.
package struct AnonymousModule: LoginModule {
  package let kind = "anonymous"
  package let looksUpUsers: Bool = true
  private let known: UserRecord

  package init(user: String = "anonymous", roles: [String] = []) {
    known = UserRecord(name: user, roles: roles)
  }

  package func judge(user: String, password: String) -> LoginOutcome {
    record(of: user).map { .accepted($0) } ?? .refused("only \(known.name) is anonymous")
  }

  package func record(of user: String) -> UserRecord? {
    user.utf8.elementsEqual(known.name.utf8) ? known : nil
  }
}
