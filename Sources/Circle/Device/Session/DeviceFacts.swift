import FerryWire
import Foundation

extension DeviceFacts {
  /// What the operator sees of this device. It names neither its user nor the device itself.
  static let ofThisDevice: DeviceFacts = {
    var facts = DeviceFacts()
    var system = utsname()
    if uname(&system) == 0 {
      facts.hardware = withUnsafeBytes(of: system.machine) { text($0) }
    }
    facts.system = ProcessInfo.processInfo.operatingSystemVersionString
    facts.library = "Ferry 0"
    return facts
  }()

  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
