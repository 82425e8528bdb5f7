import Testing

/// Lets a few tests run at a time; one that is marked `.alone` measures what others would disturb,
/// and runs when no other does.
struct SideBySide: SuiteTrait, TestTrait, TestScoping {
  private static let door = Door(places: 6)

  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await body() }
    let isAlone = test.traits.contains { $0 is Alone }
    await SideBySide.door.enter(isAlone: isAlone)
    do {
      try await body()
    } catch {
      await SideBySide.door.leave(isAlone: isAlone)
      throw error
    }
    await SideBySide.door.leave(isAlone: isAlone)
  }
}

/// Marks a test that measures times or counts threads.
struct Alone: TestTrait {}

extension Trait where Self == SideBySide {
  static var sideBySide: Self { Self() }
}

extension Trait where Self == Alone {
  static var alone: Self { Self() }
}

/// Who is inside, and who waits before it. Who wants to be alone comes in last.
private actor Door {
  private let places: Int
  private var inside = 0
  private var others: [CheckedContinuation<Void, Never>] = []
  private var loners: [CheckedContinuation<Void, Never>] = []

  init(places: Int) { self.places = places }

  func enter(isAlone: Bool) async {
    await withCheckedContinuation { waiter in
      if isAlone { loners.append(waiter) } else { others.append(waiter) }
      letIn()
    }
  }

  func leave(isAlone: Bool) {
    inside -= isAlone ? places : 1
    letIn()
  }

  private func letIn() {
    while inside < places, !others.isEmpty {
      inside += 1
      others.removeFirst().resume()
    }
    if inside == 0, !loners.isEmpty {
      inside = places
      loners.removeFirst().resume()
    }
  }
}
