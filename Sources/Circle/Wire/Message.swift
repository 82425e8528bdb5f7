import FerryJSON
import FerryModel

/// What travels between a device and the server; `Documentation/Wire.md` tells when.
public enum Message: Sendable, Equatable {
  // From the device.
  case hello(Hello)
  case pull(Pull)
  case confirm(Confirm)
  case replay(Replay)
  case report(Report)
  // From the server.
  case welcome(Welcome)
  case rows(RowsPage)
  case checkpoint(Checkpoint)
  case stored(Stored)
  case stir(Stir)
  case beat
  case failure(WireFailure)

  public var frame: Frame {
    switch self {
    case .hello(let message): Frame(.hello, message.json)
    case .pull(let message): Frame(.pull, message.json)
    case .confirm(let message): Frame(.confirm, message.json)
    case .replay(let message): Frame(.replay, message.json)
    case .report(let message): Frame(.report, message.json)
    case .welcome(let message): Frame(.welcome, message.json)
    case .rows(let message): Frame(.rows, message.json)
    case .checkpoint(let message): Frame(.checkpoint, message.json)
    case .stored(let message): Frame(.stored, message.json)
    case .stir(let message): Frame(.stir, message.json)
    case .beat: Frame(.beat, Array("{}".utf8))
    case .failure(let message): Frame(.failure, message.json)
    }
  }

  public init(_ frame: Frame) throws(WireError) {
    do throws(JSONError) {
      self = try frame.content.scan { scanner throws(JSONError) in
        switch frame.kind {
        case .hello: .hello(try Hello(&scanner))
        case .pull: .pull(try Pull(&scanner))
        case .confirm: .confirm(try Confirm(&scanner))
        case .replay: .replay(try Replay(&scanner))
        case .report: .report(try Report(&scanner))
        case .welcome: .welcome(try Welcome(&scanner))
        case .rows: .rows(try RowsPage(&scanner, frame.content))
        case .checkpoint: .checkpoint(try Checkpoint(&scanner))
        case .stored: .stored(try Stored(&scanner))
        case .stir: .stir(try Stir(&scanner))
        case .beat: try Message.beat(&scanner)
        case .failure: .failure(try WireFailure(&scanner))
        }
      }
    } catch {
      throw WireError(
        .badMessage, "the \(frame.kind) message cannot be read \(error)",
        hint: "The other side speaks another version of the protocol, or a proxy changed the bytes."
      )
    }
  }

  private static func beat(_ scanner: inout JSONScanner) throws(JSONError) -> Message {
    try scanner.skipValue()
    return .beat
  }
}

extension [UInt8] {
  /// Scans the whole array as one JSON value.
  func scan<Result>(
    _ body: (inout JSONScanner) throws(JSONError) -> Result
  ) throws(JSONError) -> Result {
    let result: Swift.Result<Result, JSONError> = withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer, depthLimit: WireLimits.nesting)
      do throws(JSONError) {
        let value = try body(&scanner)
        try scanner.finish()
        return .success(value)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
