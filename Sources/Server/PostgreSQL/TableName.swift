/// The name of a table with its schema.
///
/// As text the schema is left out where it is `public`; a part with a dot or a quote in it stands in
/// double quotes. Case counts: `Order` and `order` are two tables.
package struct TableName: Sendable, Hashable, CustomStringConvertible {
  package let schema: String
  package let name: String

  package init(schema: String, name: String) {
    self.schema = schema
    self.name = name
  }

  /// Nil where the text is no name, or one of more than two parts.
  package init?(_ text: String) {
    var parts: [String] = []
    var part = String.UnicodeScalarView()
    var isQuoted = false
    var scalars = text.unicodeScalars.makeIterator()
    var next = scalars.next()
    while let scalar = next {
      next = scalars.next()
      if isQuoted, scalar == "\"" {
        if next == "\"" {
          part.append(scalar)
          next = scalars.next()
        } else {
          isQuoted = false
        }
      } else if scalar == "\"" {
        isQuoted = true
      } else if scalar == ".", !isQuoted {
        parts.append(String(part))
        part = String.UnicodeScalarView()
      } else {
        part.append(scalar)
      }
    }
    parts.append(String(part))
    guard !isQuoted, parts.count <= 2, !parts.contains("") else { return nil }
    schema = parts.count == 2 ? parts[0] : "public"
    name = parts[parts.count - 1]
  }

  package var description: String {
    schema == "public"
      ? TableName.plain(name) : "\(TableName.plain(schema)).\(TableName.plain(name))"
  }

  /// As SQL takes it, always with its schema.
  package var quoted: String { "\(quotedName(schema)).\(quotedName(name))" }

  private static func plain(_ part: String) -> String {
    part.unicodeScalars.contains { $0 == "." || $0 == "\"" } ? quotedName(part) : part
  }
}

/// A name as SQL takes it, whatever stands in it.
package func quotedName(_ name: String) -> String { quoted(name, by: "\"") }

/// A text as SQL takes it. Where backslashes are in it, it does not depend on a setting of the server.
package func quotedText(_ text: String) -> String {
  guard text.unicodeScalars.contains("\\") else { return quoted(text, by: "'") }
  var doubled = String.UnicodeScalarView()
  for scalar in text.unicodeScalars {
    if scalar == "\\" { doubled.append(scalar) }
    doubled.append(scalar)
  }
  return "E" + quoted(String(doubled), by: "'")
}

private func quoted(_ text: String, by quote: Unicode.Scalar) -> String {
  var scalars = String.UnicodeScalarView([quote])
  for scalar in text.unicodeScalars {
    if scalar == quote { scalars.append(quote) }
    scalars.append(scalar)
  }
  scalars.append(quote)
  return String(scalars)
}
