public import Observation

/// The values of a live query on the main actor, for views that follow by themselves.
///
/// ```swift
/// let orders = LiveValue(Order.live(where: …, in: database), initially: [])
/// List(orders.value) { order in … }
/// ```
/// Follows from the moment it is made until nobody holds it.
@MainActor public final class LiveValue<Value: Sendable>: Observable {
  private let registrar = ObservationRegistrar()
  private var shown: Value
  private var problem: FerryError?
  private var isRead = false
  private var task: Task<Void, Never>?

  /// Follows a live query, or another sequence of values such as `Database.liveStatus`.
  public init<Source: AsyncSequence & Sendable>(
    _ query: Source, initially: Value
  ) where Source.Element == Value, Source.Failure == FerryError {
    shown = initially
    task = Task { [weak self] in
      do throws(FerryError) {
        for try await value in query {
          guard let self else { return }
          self.show(value)
        }
      } catch {
        self?.fail(error)
      }
    }
  }

  deinit { task?.cancel() }

  /// What the query gave last; before it was read, what was given at the beginning.
  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return shown
  }

  /// Whether the query was read.
  public var isLoaded: Bool {
    registrar.access(self, keyPath: \.isLoaded)
    return isRead
  }

  /// Why it no longer follows.
  public var failure: FerryError? {
    registrar.access(self, keyPath: \.failure)
    return problem
  }

  private func show(_ value: Value) {
    registrar.withMutation(of: self, keyPath: \.value) { shown = value }
    guard !isRead else { return }
    registrar.withMutation(of: self, keyPath: \.isLoaded) { isRead = true }
  }

  private func fail(_ error: FerryError) {
    registrar.withMutation(of: self, keyPath: \.failure) { problem = error }
  }
}
