/// A growing run of plain values in memory of its own.
///
/// An `Array` in a class is checked for exclusive access, counted and, when in doubt, copied at each
/// step; a reader of feeds takes millions of steps. This one has a single owner (it cannot be
/// copied) and holds only values without references. Indexes are checked as those of an array are.
@frozen public struct FlatArray<Element: BitwiseCopyable>: ~Copyable {
  @usableFromInline var base: UnsafeMutablePointer<Element>
  @usableFromInline var capacity: Int
  @usableFromInline var used: Int

  @inlinable public var count: Int { @inline(__always) get { used } }

  @inlinable public init(reserving capacity: Int = 16) {
    self.capacity = max(capacity, 1)
    base = .allocate(capacity: self.capacity)
    used = 0
  }

  deinit { base.deallocate() }

  /// The element at a place; that there is one is a condition.
  @inlinable public subscript(index: Int) -> Element {
    @inline(__always) get {
      precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "no element \(index)")
      return base[index]
    }
    @inline(__always) _modify {
      precondition(UInt(bitPattern: index) < UInt(bitPattern: count), "no element \(index)")
      yield &base[index]
    }
  }

  /// Puts one behind the others.
  @inlinable public mutating func append(_ element: Element) {
    if count == capacity { grow(to: count + 1) }
    base[count] = element
    used += 1
  }

  /// Puts several behind the others.
  @inlinable public mutating func append(contentsOf other: UnsafeBufferPointer<Element>) {
    let needed = count + other.count
    if needed > capacity { grow(to: needed) }
    if let start = other.baseAddress { (base + count).update(from: start, count: other.count) }
    used = needed
  }

  /// Forgets all but the first `count`; the memory is kept.
  @inlinable public mutating func cut(to count: Int) {
    precondition(count >= 0 && count <= self.count, "\(count) of \(self.count) elements")
    used = count
  }

  /// Forgets what stands between two places; what follows moves down.
  @inlinable public mutating func remove(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "\(range) of \(count)")
    let rest = count - range.upperBound
    (base + range.lowerBound).update(from: base + range.upperBound, count: rest)
    used -= range.count
  }

  /// The elements; they must not be kept beyond the next change.
  @inlinable public var elements: UnsafeBufferPointer<Element> {
    UnsafeBufferPointer(start: base, count: count)
  }

  @usableFromInline mutating func grow(to needed: Int) {
    let wider = max(needed, capacity * 2)
    let next = UnsafeMutablePointer<Element>.allocate(capacity: wider)
    next.update(from: base, count: count)
    base.deallocate()
    base = next
    capacity = wider
  }
}
