public import Observation

/// The values of a live query on the main actor, for views that follow by themselves.
///
/// ```swift
/// let orders = LiveValue(Order.live(where: …, in: database), initially: [])
/// List(orders.value) { order in … }
/// ```
///
/// It follows the query from its creation until it is released.
@MainActor public final class LiveValue<Value: Sendable>: Observable {
  private let registrar = ObservationRegistrar()
  private var shown: Value
  private var problem: FerryError?
  private var isRead = false
  private var task: Task<Void, Never>?

  /// Follows a live query, or another sequence of values such as `FerryDatabase.liveStatus`.
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

  /// The latest result of the query; before it was read, the initial value.
  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return shown
  }

  /// Whether the query has been read.
  public var isLoaded: Bool {
    registrar.access(self, keyPath: \.isLoaded)
    return isRead
  }

  /// The error that ended the query.
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
