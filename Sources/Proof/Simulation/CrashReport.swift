import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// What stands on standard error when a run takes the whole process with it: the seeds that were
/// under way, the step of each, and the command that runs it again.
///
/// A signal handler may not allocate, lock or call back: it writes bytes that were laid out before,
/// with `write(2)`.
package enum CrashReport {
  /// The signals of a fatal error and of a wrong address.
  private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT]

  /// Says from now on what was under way when a signal ends the process, which it does all the same.
  ///
  /// `again`: the command that runs a seed again, before the seed and after it.
  package static func install(again: (before: String, after: String)) {
    table.before = Bytes(again.before)
    table.after = Bytes(again.after)
    var action = sigaction()
    action.sa_flags = SA_ONSTACK
    action.__sigaction_handler.sa_handler = { CrashReport.tell($0) }
    for signal in signals { sigaction(signal, &action, table.former + Int(signal)) }
  }

  // Runs.

  /// A run that is under way on this thread.
  struct Place {
    fileprivate let index: Int?
    /// The step that begins now.
    func enter(step: Int) { if let index { table.slots[index].step = UInt64(step) } }
    func leave() {
      if let index { free.withLock { _ = $0.insert(index) }; table.slots[index].isUsed = false }
    }
  }

  /// A run begins on this thread, on which it stays.
  static func enter(seed: UInt64) -> Place {
    let index = free.withLock { $0.popFirst() }
    if let index {
      table.slots[index] = Slot(isUsed: true, thread: pthread_self(), seed: seed, step: 0)
      giveStack()
    }
    return Place(index: index)
  }

  private static let free = Mutex(Set(0..<Table.count))
  // Set up once before runs begin; then each place belongs to the one run that took it from `free`,
  // and the handler only reads, at worst a number that is one step old.
  nonisolated(unsafe) private static var table = Table()

  private struct Slot {
    var isUsed = false
    var thread: pthread_t = 0
    var seed: UInt64 = 0
    var step: UInt64 = 0
  }

  /// All that the handler reads; nothing of it is given back while the process lives.
  private struct Table {
    /// More runs at one time than any machine begins are not told.
    static let count = 256
    let slots = UnsafeMutablePointer<Slot>.allocate(capacity: count)
    let former = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    let text = UnsafeMutablePointer<UInt8>.allocate(capacity: Text.limit)
    var before = Bytes("")
    var after = Bytes("")

    init() {
      slots.initialize(repeating: Slot(), count: Table.count)
      former.initialize(repeating: sigaction(), count: 65)
    }
  }

  /// Bytes that stay where they are.
  private struct Bytes {
    let start: UnsafeMutablePointer<UInt8>
    let count: Int

    init(_ text: String) {
      count = text.utf8.count
      start = .allocate(capacity: max(1, count))
      for (place, byte) in text.utf8.enumerated() { start[place] = byte }
    }
  }

  /// A thread whose own stack has run out needs another one for its last words.
  private static func giveStack() {
    var stack = stack_t()
    guard sigaltstack(nil, &stack) == 0, stack.ss_flags & Int32(SS_DISABLE) != 0 else {
      return
    }
    stack.ss_size = 64 << 10
    stack.ss_sp = UnsafeMutableRawPointer.allocate(byteCount: stack.ss_size, alignment: 16)
    stack.ss_flags = 0
    sigaltstack(&stack, nil)
  }

  // The handler.

  private static func tell(_ signal: Int32) {
    let own = pthread_self()
    var isKnown = false
    for index in 0..<Table.count where table.slots[index].isUsed {
      isKnown = isKnown || table.slots[index].thread == own
    }
    for index in 0..<Table.count where table.slots[index].isUsed {
      // Where another thread has died nobody knows which of the runs it was.
      if isKnown, table.slots[index].thread != own { continue }
      var text = Text(start: table.text)
      text.add("ferry simulate: ended by signal ")
      text.add(UInt64(signal))
      text.add(" in seed ")
      text.add(table.slots[index].seed)
      text.add(" at step ")
      text.add(table.slots[index].step)
      text.add("\nAgain: ")
      text.add(table.before)
      text.add(table.slots[index].seed)
      text.add(table.after)
      text.add("\n")
      _ = write(STDERR_FILENO, table.text, text.count)
    }
    // As it would have been without this handler.
    sigaction(signal, table.former + Int(signal), nil)
    raise(signal)
  }

  private struct Text {
    static let limit = 4_096
    let start: UnsafeMutablePointer<UInt8>
    var count = 0

    mutating func add(_ text: StaticString) {
      var place = 0
      while place < text.utf8CodeUnitCount {
        add(text.utf8Start[place])
        place += 1
      }
    }

    mutating func add(_ bytes: Bytes) {
      var place = 0
      while place < bytes.count {
        add(bytes.start[place])
        place += 1
      }
    }

    mutating func add(_ number: UInt64) {
      var unit: UInt64 = 1
      while number / unit >= 10 { unit *= 10 }
      while unit > 0 {
        add(UInt8(48 + number / unit % 10))
        unit /= 10
      }
    }

    private mutating func add(_ byte: UInt8) {
      guard count < Text.limit else { return }
      start[count] = byte
      count += 1
    }
  }
}
