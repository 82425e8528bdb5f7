import Synchronization

/// Where those wait who follow how a big value comes and goes.
package final class ProgressBoard: Sendable {
  private struct Follower {
    let entity: String
    let object: Int64
    let attribute: String
    let continuation: AsyncStream<BigValueProgress>.Continuation
  }

  private struct State {
    var followers: [Int: Follower] = [:]
    var next = 0
    var isClosed = false
  }

  private let state = Mutex(State())

  init() {}

  /// What is told of one attribute of one object from now on; of several that wait, the last. It ends
  /// when the database is closed.
  package func follow(
    entity: String, object: Int64, attribute: String
  ) -> AsyncStream<BigValueProgress> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: BigValueProgress.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state -> Int? in
      guard !state.isClosed else { return nil }
      state.next += 1
      state.followers[state.next] = Follower(
        entity: entity, object: object, attribute: attribute, continuation: continuation)
      return state.next
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in _ = state.followers.removeValue(forKey: number) }
    }
    return stream
  }

  /// How many follow, for tests.
  package var followers: Int { state.withLock { $0.followers.count } }

  package func post(_ progress: BigValueProgress) {
    let concerned = state.withLock { state in
      state.followers.values.filter {
        $0.object == progress.surrogateKey && $0.entity == progress.entity
          && $0.attribute == progress.attribute
      }
    }
    for follower in concerned { follower.continuation.yield(progress) }
  }

  func close() {
    let followers = state.withLock { state in
      state.isClosed = true
      return Array(state.followers.values)
    }
    for follower in followers { follower.continuation.finish() }
  }
}
