import FerryWorld
import Synchronization

/// Random numbers of a simulated test: the same seed gives the same numbers on every machine.
///
/// May be used from every thread and task; only one after the other gives the same numbers again.
public final class SimulatedRandom: Chance {
  private let state: Mutex<UInt64>

  init(_ seed: UInt64) { state = Mutex(seed) }

  /// Of its own, for one step: what the app draws does not move what comes later.
  init(_ seed: Int, step: Int) {
    let mixed = SimulatedRandom(UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9).next()
    state = Mutex(mixed ^ UInt64(bitPattern: Int64(step)) &* 0xD1B5_4A32_D192_ED03)
  }

  /// Any 64 bits.
  public func next() -> UInt64 {
    state.withLock { state in
      // SplitMix64: every state is visited once.
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      return word ^ (word >> 31)
    }
  }

  /// A whole number of the range, each equally likely.
  public func number(in range: ClosedRange<Int>) -> Int {
    Int(number(in: Int64(range.lowerBound)..<Int64(range.upperBound) + 1))
  }

  /// One of the elements, which must not be empty.
  public func element<Element>(of elements: [Element]) -> Element {
    precondition(!elements.isEmpty, "there is no element to draw")
    return elements[number(in: 0...elements.count - 1)]
  }

  /// True once in so many cases.
  public func once(in cases: Int) -> Bool { number(in: 1...cases) == 1 }
}
