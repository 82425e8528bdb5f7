extension FerryError {
  /// What an app does about an error, where it does not ask for the code.
  public enum Reaction: String, Sendable, Hashable, CaseIterable {
    /// Show the sign-in screen: the server needs user and password.
    case signIn
    /// Wait, for a network or for somebody else's work. The same may succeed later.
    case wait
    /// Ask the user to free space; nothing that was saved is lost.
    case freeSpace
    /// Show `message` and `hint` beside the field: the user can enter something else.
    case correctInput
    /// Tell the user that the object was deleted, and show the list again.
    case showAgain
    /// Ask the user whether pending changes may be lost.
    case decideOnPending
    /// Tell the user to ask the administrator or the support.
    case askForHelp
    /// Nothing: the app, or the user, wanted it.
    case nothing
    /// A mistake in the app's code: log it and mend the call.
    case mendCode
  }

  /// What an app does about this error.
  ///
  /// ```swift
  /// do { try await booking.save() } catch {
  ///   switch error.reaction {
  ///   case .correctInput: show(error.message, at: error.attribute)
  ///   case .freeSpace: showStorageWarning()
  ///   case .showAgain: dismiss()
  ///   default: show(error.description)
  ///   }
  /// }
  /// ```
  public var reaction: Reaction {
    switch code {
    case .notLoggedIn: .signIn
    case .diskFull: .freeSpace
    case .invalidValue, .objectExists, .tooLarge, .invalidReference: .correctInput
    case .objectNotFound: .showAgain
    case .pendingChanges: .decideOnPending
    case .cancelled, .closed, .wiped: .nothing
    case .offline, .timedOut, .inUse, .notDownloaded: .wait
    case .notSubmitted, .wrongState, .unknownName, .invalidQuery, .objectNotSaved, .keyChanged,
      .operationNotAllowed, .notSubscribed, .notRegistered, .streamNotOpen, .writeOverLength,
      .writeUnderLength, .connectionProperty, .badAddress:
      .mendCode
    default: isTransient ? .wait : .askForHelp
    }
  }
}

extension FerryError.Code {
  /// Lets a `catch` name a code: `catch FerryError.Code.offline`.
  public static func ~= (code: FerryError.Code, error: any Error) -> Bool {
    (error as? FerryError)?.code == code
  }

  /// A change that cannot be sent for this reason stays pending, and holds up nothing else.
  package var keepsChange: Bool {
    self == .tooLarge || self == .invalidReference || self == .notDownloaded
  }
}
