import FerryCrypto
import Foundation

/// An object that writes and reads itself.
public protocol Persistable {
  /// An empty object, to be filled by `read`.
  init()
  /// Writes all that `read` needs, in the same order.
  func write(to writer: inout PersistableWriter) throws
  /// Fills the object with what `write` wrote.
  mutating func read(from reader: inout PersistableReader) throws
}

/// Receives the values of an object, one after the other.
public struct PersistableWriter {
  var bytes: [UInt8] = []

  public mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }
  public mutating func write(_ value: Int) { bytes.append(number: Int64(value)) }
  public mutating func write(_ value: Double) { bytes.append(number: value.bitPattern) }
  public mutating func write(_ text: String) { write(Array(text.utf8)) }
  /// Writes bytes of any number, preceded by their length.
  public mutating func write(_ piece: [UInt8]) {
    bytes.append(number: UInt64(piece.count))
    bytes += piece
  }
}

/// Returns the values of an object in the order in which they were written.
///
/// Each method throws `.notPersistable` if the next value has another type.
public struct PersistableReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  private mutating func take(_ count: Int) throws(PersistenceError) -> ArraySlice<UInt8> {
    guard count >= 0, bytes.count - place >= count else {
      throw PersistenceError(
        .notPersistable, "the object reads \(count) bytes, but only \(bytes.count - place) are left"
      )
    }
    defer { place += count }
    return bytes[place..<(place + count)]
  }

  /// Reads a value that `write` stored as a Boolean.
  public mutating func readBool() throws(PersistenceError) -> Bool {
    try take(1).first == 1
  }

  /// Reads a value that `write` stored as a whole number.
  public mutating func readInt() throws(PersistenceError) -> Int {
    Int(try take(8).number(Int64.self))
  }

  /// Reads a value that `write` stored as a double.
  public mutating func readDouble() throws(PersistenceError) -> Double {
    Double(bitPattern: try take(8).number(UInt64.self))
  }

  /// Reads a value that `write` stored as a text.
  public mutating func readString() throws(PersistenceError) -> String {
    String(decoding: try readBytes(), as: UTF8.self)
  }

  /// Reads a value that `write` stored as bytes.
  public mutating func readBytes() throws(PersistenceError) -> [UInt8] {
    Array(try take(Int(clamping: try take(8).number(UInt64.self))))
  }
}

/// Objects by name.
extension Persistence {
  /// Stores an object under a name. An error of the object's own code becomes `.notPersistable`.
  public func storeObject(_ key: String, _ object: some Persistable) throws(PersistenceError) {
    var writer = PersistableWriter()
    do {
      try object.write(to: &writer)
    } catch {
      throw PersistenceError(.notPersistable, "the object for \(key) was not written: \(error)")
    }
    try store(writer.bytes, key, .object)
  }

  /// Fills an object from the data with this name; false when there is none. Then, and after an
  /// error, the object is unchanged.
  public func loadObject<Object: Persistable>(
    _ key: String, into object: inout Object
  ) throws(PersistenceError) -> Bool {
    guard let bytes = try stream(key, .object)?.rest() else { return false }
    var reader = PersistableReader(bytes)
    var filled = Object()
    do {
      try filled.read(from: &reader)
    } catch {
      throw PersistenceError(.notPersistable, "the object of \(key) was not read: \(error)")
    }
    guard reader.isAtEnd else {
      throw PersistenceError(.notPersistable, "the object of \(key) did not read all its bytes")
    }
    object = filled
    return true
  }

  /// Stores a `Codable` value under a name, or a fresh one when `id` is nil, and returns the name.
  @discardableResult
  public func storeSerializable(
    _ value: some Encodable, id: String? = nil
  ) throws(PersistenceError) -> String {
    let bytes: [UInt8]
    do {
      bytes = [UInt8](try JSONEncoder().encode(value))
    } catch {
      throw PersistenceError(.notPersistable, "the value was not encoded: \(error)")
    }
    let id = id ?? hexadecimal(randomBytes(16))
    try store(bytes, id, .coded)
    return id
  }

  /// The value with this name; nil when there is none, `.notPersistable` when it is not of the type.
  public func loadSerializable<Value: Decodable>(
    _ type: Value.Type, _ id: String
  ) throws(PersistenceError) -> Value? {
    guard let bytes = try stream(id, .coded)?.rest() else { return nil }
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      throw PersistenceError(.notPersistable, "the value of \(id) was not decoded: \(error)")
    }
  }
}
