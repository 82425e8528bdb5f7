public import Ferry
public import Observation

/// The state of a `Live` property, which `$flights` is: whether it is loading, and why it failed.
///
/// It lives as long as the view. When the view goes, what it follows is cancelled, and no value comes
/// any more.
@MainActor public final class LiveFollower<Value: Sendable>: Observable {
  private let registrar = ObservationRegistrar()
  private var shown: Value
  private var isWaiting = true
  private var problem: FerryError?

  private var request: LiveRequest<Value>?
  private weak var database: FerryDatabase?
  /// Of the task that may show values; one with another number was replaced.
  private var number = 0
  private var task: Task<Void, Never>?

  nonisolated init(initially: Value) { shown = initially }

  deinit { task?.cancel() }

  /// The latest value; before the first one what the property began with.
  ///
  /// After the query changed, this is the value of the old one until the new one is read. After the
  /// database changed, it is what the property began with: no user sees rows of another.
  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return shown
  }

  /// Whether the query has not been read yet, or its database is being opened.
  public var isLoading: Bool {
    registrar.access(self, keyPath: \.isLoading)
    return isWaiting
  }

  /// Why no value comes any more; nil while all is well. The last value is still shown.
  public var failure: FerryError? {
    registrar.access(self, keyPath: \.failure)
    return problem
  }

  /// Reads again after a failure. The value stays until the next one comes.
  public func retry() {
    guard let request, let database else { return }
    start(request, database)
    changed()
  }

  /// Follows what the view asks for now. Nothing happens if that is what is followed already.
  ///
  /// A view that is being drawn calls this and reads the values afterwards, so it is not reported as
  /// a change; other views hear of it a moment later.
  func follow(_ new: LiveRequest<Value>, in place: LiveDatabase) {
    guard let other = place.database else { return stop(new, isMissing: place.isMissing) }
    let isSameDatabase = database === other
    if isSameDatabase, let request, request.isSame(as: new) { return }
    if database != nil || request != nil, !isSameDatabase { shown = new.initial }
    start(new, other)
  }

  /// There is nothing to read from.
  private func stop(_ new: LiveRequest<Value>, isMissing: Bool) {
    guard request != nil || isMissing != (problem != nil) else { return }
    end()
    request = nil
    database = nil
    shown = new.initial
    isWaiting = !isMissing
    problem = isMissing ? LiveFollower.noDatabase : nil
  }

  private func end() {
    number += 1
    task?.cancel()
    task = nil
  }

  private func start(_ new: LiveRequest<Value>, _ other: FerryDatabase) {
    let isFirst = request == nil
    end()
    request = new
    database = other
    isWaiting = true
    problem = nil
    let (own, run) = (number, new.run)
    task = Task { [weak self, weak other] in
      guard let other else { return }
      if !isFirst { self?.changed() }
      do throws(FerryError) {
        try await run(other) { [weak self] value in self?.show(value, own) ?? false }
        self?.fail(LiveFollower.closed, own)
      } catch {
        self?.fail(error, own)
      }
    }
  }

  /// Returns whether further values are wanted.
  private func show(_ value: Value, _ own: Int) -> Bool {
    guard own == number else { return false }
    registrar.withMutation(of: self, keyPath: \.value) { shown = value }
    if isWaiting { registrar.withMutation(of: self, keyPath: \.isLoading) { isWaiting = false } }
    return true
  }

  private func fail(_ error: FerryError, _ own: Int) {
    guard own == number else { return }
    registrar.withMutation(of: self, keyPath: \.failure) { problem = error }
    registrar.withMutation(of: self, keyPath: \.isLoading) { isWaiting = false }
  }

  private func changed() {
    registrar.withMutation(of: self, keyPath: \.value) {}
    registrar.withMutation(of: self, keyPath: \.isLoading) {}
    registrar.withMutation(of: self, keyPath: \.failure) {}
  }

  private static var noDatabase: FerryError {
    FerryError(
      .wrongState, "a Live property of a view has no database",
      hint: "Write .ferryDatabase(database) on a view above it, or give the property in: database.")
  }

  private static var closed: FerryError {
    FerryError(
      .closed, "the database of a Live property was closed",
      hint: "Open it again, and give it to the views with .ferryDatabase(database).")
  }
}

extension LiveDatabase {
  fileprivate var isMissing: Bool { if case .missing = self { true } else { false } }
}
