import Ferry
import Observation
import Synchronization

/// Values that a test sends, as a live query would; it knows who follows them.
final class Feed: Sendable {
  private let streams = Mutex<[AsyncStream<Result<Int, FerryError>>.Continuation]>([])
  private let ended = Mutex(0)

  /// How many sequences were begun, and how many of those nobody follows any more.
  var begun: Int { streams.withLock { $0.count } }
  var endedCount: Int { ended.withLock { $0 } }

  func sequence() -> FeedSequence {
    let (stream, continuation) = AsyncStream.makeStream(of: Result<Int, FerryError>.self)
    continuation.onTermination = { [weak self] _ in self?.ended.withLock { $0 += 1 } }
    streams.withLock { $0.append(continuation) }
    return FeedSequence(stream: stream)
  }

  /// To the sequence that was begun last, or to the one with this number.
  func send(_ value: Int, to number: Int? = nil) { continuation(number)?.yield(.success(value)) }
  func fail(_ error: FerryError) { continuation(nil)?.yield(.failure(error)) }
  func finish() { continuation(nil)?.finish() }

  private func continuation(
    _ number: Int?
  ) -> AsyncStream<Result<Int, FerryError>>.Continuation? {
    streams.withLock { streams in number.map { streams[$0] } ?? streams.last }
  }
}

struct FeedSequence: AsyncSequence, Sendable {
  typealias Element = Int
  typealias Failure = FerryError
  let stream: AsyncStream<Result<Int, FerryError>>

  func makeAsyncIterator() -> Iterator { Iterator(results: stream.makeAsyncIterator()) }

  struct Iterator: AsyncIteratorProtocol {
    var results: AsyncStream<Result<Int, FerryError>>.Iterator

    mutating func next() async throws(FerryError) -> Int? {
      try await next(isolation: nil)
    }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FerryError) -> Int? {
      guard let result = await results.next(isolation: actor) else { return nil }
      return try result.get()
    }
  }
}

/// Waits as a view does: looks again whenever what it has read changes.
@MainActor func eventually(_ test: @escaping @MainActor () -> Bool) async {
  while true {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
    let holds = withObservationTracking {
      test()
    } onChange: {
      continuation.yield()
    }
    if holds { return }
    for await _ in changes { break }
    // The change is made when all who watch have been asked.
    await Task.yield()
  }
}
