import Ferry

extension FerryError {
  /// What the session and the app are told: whether to wait, to open a vault, or to log in.
  init(_ error: OpenIDError) {
    let code: Code =
      switch error.code {
      case .issuerAway: .offline
      case .secrets: .secrets
      case .cancelled: .cancelled
      default: .notLoggedIn
      }
    self.init(
      code, error.message, hint: error.hint, isTransient: error.isTransient, cause: error)
  }
}
