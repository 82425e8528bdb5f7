import FerryWire

/// The application settings, and how far a content is.
extension SessionCore {
  func keptSettings() throws(FerryError) -> ApplicationSettings {
    try store.withSnapshot { transaction throws(FerryError) in
      try ApplicationSettings.kept(transaction)
    }
  }

  /// Newer settings came.
  func take(_ settings: ApplicationSettings) throws(FerryError) {
    let older = try store.withTransaction { transaction throws(FerryError) in
      let older = try ApplicationSettings.kept(transaction)
      try transaction.set(.applicationSettings, String(decoding: settings.json, as: UTF8.self))
      return older
    }
    profileChanged()
    let names = settings.changes(since: older)
    guard !names.isEmpty else { return }
    if names.contains(where: { $0.hasPrefix("synchronization.") }) { noticesChanged() }
    observers.tell(.settingsChanged(names: names), .lasting)
  }

  /// The channel was opened for other notices.
  func noticesChanged() {
    guard isReplicationBased else { return }
    happened(.channelOutdated)
    happened(.woken)
  }

  /// Tells the app's handler, and those who follow this value.
  func tell(_ progress: BigValueProgress) {
    observers.tell(progress)
    store.progress.post(progress)
  }
}
