import FerryOData

/// The pattern of `matchesPattern`: a regular expression of ECMAScript, as far as it is regular.
///
/// All ways through it are followed at once, so that no pattern can make it go back and forth for
/// ever: time grows with text times pattern, and has a quota. What no such machine can do (back
/// references, looking ahead or behind) is refused by name.
struct TextPattern {
  /// Steps that a pattern may have; counted repetitions are written out.
  static let stepLimit = 2_000
  /// Looks at a step that one question may cost: about a second of unoptimised code.
  static let workLimit = 10_000_000

  enum Step {
    case scalar([ClosedRange<UInt32>])
    case begin, end
    case wordEdge(Bool)
    case split(Int, Int)
    case found
  }

  private(set) var steps: [Step] = []

  /// Throws `evaluation` for what is no pattern, `notOffered` for what is not regular, `limit`.
  init(_ pattern: String) throws(AddressFault) {
    var reader = TextPatternReader(pattern)
    let tree = try reader.whole()
    var work = 0
    try emit(tree, &work)
    steps.append(.found)
  }

  /// Whether the pattern is anywhere in a text.
  func isFound(in text: String) throws(AddressFault) -> Bool {
    let scalars = text.unicodeScalars.map(\.value)
    var seen = [Int](repeating: -1, count: steps.count)
    var now: [Int] = []
    var next: [Int] = []
    var work = 0
    for place in 0...scalars.count {
      // A way may begin at each place, behind those that began before.
      if follow(from: now + [0], at: place, in: scalars, &seen, &next) { return true }
      now.removeAll(keepingCapacity: true)
      guard place < scalars.count else { return false }
      work += seen.count
      for step in next {
        guard case .scalar(let ranges) = steps[step] else { continue }
        work += ranges.count
        if ranges.contains(where: { $0.contains(scalars[place]) }) { now.append(step + 1) }
      }
      guard work <= Self.workLimit else {
        throw AddressFault(
          .limit, "the pattern costs too much for a text of \(scalars.count) characters",
          hint: "write a shorter pattern, or compare with contains and startswith")
      }
    }
    return false
  }

  /// Goes as far as no character is needed; true where the end of the pattern is reached.
  private func follow(
    from starts: [Int], at place: Int, in scalars: [UInt32], _ seen: inout [Int],
    _ waiting: inout [Int]
  ) -> Bool {
    waiting.removeAll(keepingCapacity: true)
    var open = Array(starts.reversed())
    while let step = open.popLast() {
      if seen[step] == place { continue }
      seen[step] = place
      switch steps[step] {
      case .scalar: waiting.append(step)
      case .begin: if place == 0 { open.append(step + 1) }
      case .end: if place == scalars.count { open.append(step + 1) }
      case .wordEdge(let wanted):
        let before = place > 0 && Self.isWord(scalars[place - 1])
        let after = place < scalars.count && Self.isWord(scalars[place])
        if (before != after) == wanted { open.append(step + 1) }
      case .split(let first, let second): open += [second, first]
      case .found: return true
      }
    }
    return false
  }

  private static func isWord(_ scalar: UInt32) -> Bool {
    TextPatternReader.wordRanges.contains { $0.contains(scalar) }
  }

  private mutating func emit(_ tree: TextPatternTree, _ work: inout Int) throws(AddressFault) {
    work += 1
    guard steps.count < Self.stepLimit, work < Self.stepLimit * 4 else {
      throw AddressFault(
        .limit, "the pattern has more than \(Self.stepLimit) steps, repetitions written out",
        hint: "repeat less")
    }
    switch tree {
    case .step(let step): steps.append(step)
    case .sequence(let parts): for part in parts { try emit(part, &work) }
    case .choice(let parts):
      var ends: [Int] = []
      for part in parts.dropLast() {
        let split = steps.count
        steps.append(.split(split + 1, 0))
        try emit(part, &work)
        ends.append(steps.count)
        steps.append(.split(0, 0))
        steps[split] = .split(split + 1, steps.count)
      }
      if let last = parts.last { try emit(last, &work) }
      for end in ends { steps[end] = .split(steps.count, steps.count) }
    case .repetition(let inner, let least, let most):
      for _ in 0..<least { try emit(inner, &work) }
      guard let most else {
        let split = steps.count
        steps.append(.split(split + 1, 0))
        try emit(inner, &work)
        steps.append(.split(split, split))
        steps[split] = .split(split + 1, steps.count)
        return
      }
      for _ in least..<max(least, most) {
        let split = steps.count
        steps.append(.split(split + 1, 0))
        try emit(inner, &work)
        steps[split] = .split(split + 1, steps.count)
      }
    }
  }
}

/// A pattern as it is written.
indirect enum TextPatternTree {
  case step(TextPattern.Step)
  case sequence([TextPatternTree])
  case choice([TextPatternTree])
  case repetition(TextPatternTree, Int, Int?)
}
