import FerryConnector
import FerryHTTP
import FerryModel
import FerryOData
import FerryODataAddress

/// Names the rows of a set that are wanted, as `Flights?$filter=Price gt 100`, or all of them: `Flights`.
///
/// The service itself decides for each row, so a condition may say whatever the service understands.
public struct DefiningQuery: Sendable, Hashable {
  /// The name of the set.
  public let set: String
  /// The condition, not percent-encoded; nil for all rows.
  public let filter: String?

  /// The text is that of an address beside the service's root. A condition with blanks is taken as it
  /// stands; in one without, `%20` and its like are decoded. Errors: `DefiningQueryFault` for an option
  /// that is not `$filter`, and for a condition that is none.
  public init(_ text: String) throws(DefiningQueryFault) {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let set = parts.first.map(String.init) ?? ""
    guard !set.isEmpty, !set.contains(where: { $0.isWhitespace || "/()$&=".contains($0) }) else {
      throw DefiningQueryFault(
        query: text, problem: "\"\(set)\" is not the name of a set",
        cure: "Write the name of a set, as in Flights or Flights?$filter=Price gt 100.")
    }
    self.set = set
    guard parts.count > 1, !parts[1].isEmpty else {
      filter = nil
      return
    }
    let word = "$filter="
    let option = parts[1]
    guard option.hasPrefix(word) || option.hasPrefix("%24filter=") else {
      throw DefiningQueryFault(
        query: text, problem: "\(option.prefix { $0 != "=" }) cannot be kept up to date",
        cure: "Use $filter alone; the app's own queries sort and join.")
    }
    let given = String(
      option[(option.firstIndex(of: "=").map(option.index(after:)) ?? option.endIndex)...])
    let condition = given.contains(" ") ? given : DefiningQuery.decoded(given)
    if let problem = DefiningQuery.problem(of: condition) {
      throw DefiningQueryFault(
        query: text, problem: problem, cure: "Correct the condition behind $filter=.")
    }
    filter = condition
  }

  /// A plus sign is a plus sign.
  private static func decoded(_ text: String) -> String {
    ODataURL.decoded(
      text.split(separator: "+", omittingEmptySubsequences: false).joined(separator: "%2B"))
  }

  /// Of neither version; nil where one reads it. The service has the last word.
  private static func problem(of condition: String) -> String? {
    func fault(_ version: ODataVersion) -> String? {
      do throws(ODataError) {
        _ = try ODataExpression(parsing: condition, ODataAddressSettings(version: version))
        return nil
      } catch {
        return error.message
      }
    }
    guard let problem = fault(.v4), fault(.v2) != nil else { return nil }
    return problem
  }
}

/// What is wrong with a defining query.
public struct DefiningQueryFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// As it was given.
  public let query: String
  public let problem: String
  public let cure: String

  public var description: String { "The defining query \(query): \(problem). \(cure)" }
}

/// Which rows of a set a connector reads.
enum RowScope: Sendable, Hashable {
  case all
  case none
  /// Those for which the condition holds: not encoded.
  case filtered(String)

  /// Of several queries of a set the rows of each.
  static func scopes(of queries: [DefiningQuery]) -> [String: RowScope] {
    var scopes: [String: RowScope] = [:]
    for query in queries {
      guard let filter = query.filter else {
        scopes[query.set] = .all
        continue
      }
      switch scopes[query.set] {
      case nil, .some(.none): scopes[query.set] = .filtered(filter)
      case .all: continue
      case .filtered(let other) where other == filter: continue
      case .filtered(let other): scopes[query.set] = .filtered("(\(other)) or (\(filter))")
      }
    }
    return scopes
  }

  /// As an option of an address, behind others; empty for all rows.
  var option: String {
    guard case .filtered(let condition) = self else { return "" }
    return "&$filter=\(RowScope.encoded(condition))"
  }

  static func encoded(_ condition: String) -> String {
    PercentEncoding.encode(condition, keeping: "'(),:@!$*;/")
  }

  /// Why the service does not take the condition; nil where it does.
  func mismatch(of entity: Entity, in metadata: EdmMetadata) -> Mismatch? {
    guard case .filtered(let condition) = self else { return nil }
    let address = "\(PercentEncoding.encode(entity.table))?$filter=\(RowScope.encoded(condition))"
    do throws(ODataError) {
      _ = try ODataAddress(parsing: address, ODataAddressSettings(metadata: metadata))
      return nil
    } catch {
      return Mismatch(
        place: "\(entity.table)?$filter=\(condition)",
        problem: "the service does not have what the condition names: \(error.message)",
        cure: "Correct the defining query.")
    }
  }
}
