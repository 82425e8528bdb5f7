import Ferry
import FerryReference
import Synchronization

/// Writes down every callback, and whether it came on the main actor.
final class Witness: CallbackHandler {
  private let lines = Mutex<[String]>([])
  private let action: SynchronizationAction
  private let isOnMain: Bool
  let told: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init(_ action: SynchronizationAction = .proceed, isOnMain: Bool = false) {
    self.action = action
    self.isOnMain = isOnMain
    (told, continuation) = AsyncStream.makeStream(of: String.self)
  }

  var heard: [String] { lines.withLock { $0 } }

  private func hear(_ line: String) {
    if isOnMain { MainActor.preconditionIsolated("a callback is off the main actor") }
    lines.withLock { $0.append(line) }
    continuation.yield(line)
  }

  /// Waits until this was heard.
  func hears(_ wanted: String) async {
    for await line in told where line == wanted { return }
  }

  func onConnect() { hear("connect") }
  func onConnectionStatusChange(_ status: ConnectionStatus) { hear("\(status)") }
  func onMessageStart(sizeBytes: Int) { hear(sizeBytes > 0 ? "message" : "empty") }
  func onLoginSuccess() { hear("login") }
  func onLoginFailure(_ error: FerryError) { hear("login failed") }
  func onSubscribeSuccess() { hear("subscribe") }
  func onSynchronize(
    groups: [String], context: SynchronizationContext
  ) -> SynchronizationAction {
    hear("synchronize \(context.status)")
    return context.status == .starting ? action : .proceed
  }
  func onSynchronizeSuccess(groups: [String]) { hear("synchronized \(groups[0])") }
  func onSynchronizeFailure(groups: [String], _ error: FerryError) {
    hear("not synchronized \(error.code.rawValue)")
  }
  func beforeImport(group: String) { hear("before \(group)") }
  func onImport(_ changes: EntityChanges) {
    hear("import \(changes.entity) \(changes.inserted) \(changes.updated) \(changes.deleted)")
  }
  func onImportSuccess(group: String) { hear("imported \(group)") }
  func onReplaySuccess(_ object: ReplayedObject) { hear("accepted \(object.key)") }
  func onReplayFailure(_ object: ReplayedObject) { hear("refused \(object.key)") }
  func onTransactionCommit() { hear("commit") }
  func onTransactionRollback() { hear("rollback") }
}
