import Synchronization

/// The loops that follow something, each with what it is interested in.
final class StreamFollowers<Element: Sendable, Interest: Sendable>: Sendable {
  private struct Follower {
    let interest: Interest
    let continuation: AsyncStream<Element>.Continuation
  }

  private struct State {
    var followers: [Int: Follower] = [:]
    var last = 0
    var isClosed = false
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.followers.count } }

  /// What is posted from now on. For a loop that is busy the newest `limit` elements wait. The stream
  /// ends with `close`.
  func follow(_ interest: Interest, keeping limit: Int) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Element.self, bufferingPolicy: .bufferingNewest(limit))
    let number = state.withLock { state -> Int? in
      guard !state.isClosed else { return nil }
      state.last += 1
      state.followers[state.last] = Follower(interest: interest, continuation: continuation)
      return state.last
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

  func post(_ element: Element, where isConcerned: (Interest) -> Bool = { _ in true }) {
    let concerned = state.withLock { state in
      state.followers.values.filter { isConcerned($0.interest) }
    }
    for follower in concerned { follower.continuation.yield(element) }
  }

  func close() {
    let followers = state.withLock { state in
      state.isClosed = true
      return Array(state.followers.values)
    }
    for follower in followers { follower.continuation.finish() }
  }
}
