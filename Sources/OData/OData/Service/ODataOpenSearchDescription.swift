import FerryHTTP
import FerryText

/// How a collection, or several, can be searched.
///
/// Reference: ios/PAR-6, ios/1.O `SDMOpenSearchDescription`.
public struct ODataOpenSearchDescription: Sendable, Hashable {
  /// `ShortName`; `""` where absent.
  public var shortName: String
  /// `LongName`; nil where absent.
  public var longName: String?
  /// `Description`; `""` where absent.
  public var description: String
  /// `Tags`, split at spaces.
  public var tags: [String]
  /// `Contact`, an e-mail address; nil where absent.
  public var contact: String?
  /// One for each `Url` element.
  public var urlTemplates: [URLTemplate]

  /// An address with places for parameters.
  public struct URLTemplate: Sendable, Hashable {
    /// A place in the template.
    public struct Parameter: Sendable, Hashable {
      /// With its prefix, such as `searchTerms` or `sap:plant`.
      public var name: String
      /// True for a name with a question mark, such as `{count?}`.
      public var isOptional: Bool
    }

    /// `template`, such as `Products?search={searchTerms}`.
    public var urlTemplate: String
    /// `type`: the media type of the results; `""` where absent.
    public var urlType: String
    /// `rel`; nil where absent.
    public var relation: String?
    /// In the order of the template.
    public var parameters: [Parameter]

    /// The address with each place filled; texts are percent-encoded. Throws `missing` where a
    /// parameter that is not optional has no value.
    public func url(_ values: [String: String]) throws(ODataError) -> String {
      var url = ""
      var rest = urlTemplate[...]
      while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
        url += rest[..<open]
        var name = rest[rest.index(after: open)..<close]
        let isOptional = name.hasSuffix("?")
        if isOptional { name = name.dropLast() }
        if let value = values[String(name)] {
          url += PercentEncoding.encode(value)
        } else if !isOptional {
          throw ODataError(.missing, "the search needs a value for \(name)")
        }
        rest = rest[rest.index(after: close)...]
      }
      return url + rest
    }
  }

  /// Reads a description. Throws `unexpectedDocument` for any other document.
  public static func read(
    _ bytes: [UInt8], limits: ODataLimits = .standard
  ) throws(ODataError) -> ODataOpenSearchDescription {
    if HTMLPage.isHTML(bytes) { throw HTMLPage.refusal }
    let (tree, _) = try XMLTree.read(bytes, limits: limits)
    let root = tree.root
    if let page = HTMLPage.error(root) { throw page }
    guard root.local == "OpenSearchDescription" else {
      throw ODataError(
        .unexpectedDocument, "the root is \(root.local), not OpenSearchDescription", at: root.place)
    }
    func text(_ name: String) -> String? {
      root.children.first { $0.local == name }?.text.trimmed.nilIfEmpty
    }
    var found = ODataOpenSearchDescription(
      shortName: text("ShortName") ?? "", longName: text("LongName"),
      description: text("Description") ?? "",
      tags: text("Tags")?.split(separator: " ").map(String.init) ?? [], contact: text("Contact"),
      urlTemplates: [])
    for element in root.children where element.local == "Url" {
      guard let template = element.attribute("template") else {
        throw ODataError(.missing, "a Url has no template", at: element.place)
      }
      found.urlTemplates.append(
        URLTemplate(
          urlTemplate: template, urlType: element.attribute("type") ?? "",
          relation: element.attribute("rel"), parameters: parameters(of: template)))
    }
    return found
  }

  private static func parameters(of template: String) -> [URLTemplate.Parameter] {
    var found: [URLTemplate.Parameter] = []
    var rest = template[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let name = rest[rest.index(after: open)..<close]
      found.append(
        URLTemplate.Parameter(
          name: String(name.hasSuffix("?") ? name.dropLast() : name),
          isOptional: name.hasSuffix("?")))
      rest = rest[rest.index(after: close)...]
    }
    return found
  }
}

/// The little of addresses that payloads need.
package enum ODataURL {
  /// The text of an encoded part: a plus sign is a blank, and a `%` without two digits is itself.
  package static func decoded(_ text: some StringProtocol) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let high = Hexadecimal.value(rest[rest.startIndex]),
        let low = Hexadecimal.value(rest[rest.startIndex + 1])
      {
        bytes.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Scheme and authority of an absolute address; nil for a relative one.
  package static func origin(_ url: String) -> String? {
    guard let end = url.firstRange(of: "://") else { return nil }
    let scheme = url[..<end.lowerBound].lowercased()
    guard !scheme.isEmpty, scheme.allSatisfy({ $0.isLetter || $0.isNumber }) else { return nil }
    let rest = url[end.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    var host = rest.split(separator: "@").last.map { $0.lowercased() } ?? ""
    if scheme == "https", host.hasSuffix(":443") { host = String(host.dropLast(4)) }
    if scheme == "http", host.hasSuffix(":80") { host = String(host.dropLast(3)) }
    return "\(scheme)://\(host)"
  }

  /// The address that a relative one means beside a base.
  package static func resolved(_ reference: String, base: String?) -> String {
    base.flatMap { ODataGround($0) }?.resolve(reference) ?? reference
  }
}
