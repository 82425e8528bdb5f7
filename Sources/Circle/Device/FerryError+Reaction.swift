import FerryWire

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
    case reload
    /// Ask the user whether pending changes may be lost.
    case decideOnPending
    /// Tell the user to ask the administrator or the support.
    case askForHelp
    /// Nothing: the app, or the user, wanted it.
    case nothing
    /// Ask the user to update the app: the server no longer serves its model. While you develop,
    /// deploy the model on the server.
    case updateApp
    /// A mistake in the app's code: log it and correct the call.
    case fixCode
  }

  /// What an app does about this error.
  ///
  /// ```swift
  /// do { try await booking.save() } catch {
  ///   switch error.reaction {
  ///   case .correctInput: show(error.message, at: error.attribute)
  ///   case .freeSpace: showStorageWarning()
  ///   case .reload: dismiss()
  ///   default: show(error.description)
  ///   }
  /// }
  /// ```
  public var reaction: Reaction {
    if let failure = cause as? WireFailure,
      failure.code == .unknownPackage || failure.code == .protocolVersion
    {
      return .updateApp
    }
    return reactionToCode
  }

  /// Whether nothing gets better before somebody acts.
  var needsSomebody: Bool { reaction == .askForHelp || reaction == .updateApp }

  private var reactionToCode: Reaction {
    switch code {
    case .notLoggedIn: .signIn
    case .diskFull: .freeSpace
    case .invalidValue, .objectExists, .tooLarge, .invalidReference: .correctInput
    case .objectNotFound: .reload
    case .pendingChanges: .decideOnPending
    case .cancelled, .closed: .nothing
    case .offline, .timedOut, .inUse, .notDownloaded: .wait
    case .notSubmitted, .wrongState, .unknownName, .invalidQuery, .objectNotSaved, .keyChanged,
      .operationNotAllowed, .notSubscribed, .notRegistered, .streamNotOpen, .writeOverLength,
      .writeUnderLength, .connectionProperty, .badAddress:
      .fixCode
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
      || self == .operationNotAllowed
  }
}
