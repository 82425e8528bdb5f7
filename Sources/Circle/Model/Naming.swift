/// Makes identifiers from the names of a database, always the same ones from the same names.
package enum Naming {
  /// `Order Details` -> `OrderDetails`, `CUSTOMER_ORDERS` -> `CustomerOrders`; `fallback` where
  /// nothing of the name can be kept.
  package static func typeName(_ name: String, fallback: String) -> String {
    let words = words(name)
    guard !words.isEmpty else { return fallback }
    let isUpper = isUpper(name) && (words.count > 1 || words[0].count > 3)
    let joined = words.enumerated().map { later($1, isFirst: $0 == 0, isUpper: isUpper) }.joined()
    return startsWithLetter(joined) ? joined : "N" + joined
  }

  /// `EmployeeID` -> `employeeID`, `URL` -> `url`, `ship_city` -> `shipCity`.
  package static func memberName(_ name: String, fallback: String) -> String {
    let words = words(name)
    guard let first = words.first else { return fallback }
    let isUpper = isUpper(name)
    let rest = words.dropFirst().map { later($0, isFirst: false, isUpper: isUpper) }
    let joined = lowerLead(first) + rest.joined()
    return startsWithLetter(joined) ? joined : "n" + joined
  }

  /// The name, with an underscore where it is reserved and a number where it is taken already.
  package static func free(
    _ name: String, taken: inout Set<String>, clash: (String) -> String?
  ) -> String {
    let wanted = clash(name) == nil ? name : name + "_"
    var result = wanted
    var number = 2
    while !taken.insert(result.lowercased()).inserted {
      result = "\(wanted)\(number)"
      number += 1
    }
    return result
  }

  /// `OrderDetails` -> `orderDetails`.
  package static func lowerLead(_ word: String) -> String {
    let run = word.prefix { $0.isUppercase }
    if run.count <= 1 || run.count == word.count {
      return run.lowercased() + word.dropFirst(run.count)
    }
    let next = word[run.endIndex]
    guard next.isLowercase else { return run.lowercased() + word.dropFirst(run.count) }
    return run.dropLast().lowercased() + word.dropFirst(max(0, run.count - 1))
  }

  /// `booking` -> `bookings`, `country` -> `countries`, `box` -> `boxes`; what is plural stays.
  package static func plural(_ word: String) -> String {
    guard !isPlural(word) else { return word }
    let low = word.lowercased()
    if low.hasSuffix("y"), let before = low.dropLast().last, !"aeiou".contains(before) {
      return word.dropLast() + "ies"
    }
    let isHissing = ["s", "x", "z", "ch", "sh"].contains { low.hasSuffix($0) }
    return word + (isHissing ? "es" : "s")
  }

  /// `orders` and `countries` are plural, `address`, `status` and `analysis` are not.
  package static func isPlural(_ word: String) -> Bool {
    let low = word.lowercased()
    return low.hasSuffix("s") && !["ss", "us", "is"].contains { low.hasSuffix($0) }
  }

  package static func upperFirst(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }

  private static func later(_ word: String, isFirst: Bool, isUpper: Bool) -> String {
    if !isFirst, word.lowercased() == "id" { return "ID" }
    return upperFirst(isUpper ? word.lowercased() : word)
  }

  /// Letters and digits that stand together; quotes inside a word do not part it. Where there are
  /// none, what Unicode calls the signs: `RED`, `APPLE`.
  private static func words(_ name: String) -> [String] {
    let words = lettersAndDigits(name)
    guard words.isEmpty else { return words }
    return name.unicodeScalars.flatMap { scalar in
      (scalar.properties.name ?? "").split { $0 == " " || $0 == "-" }.map {
        upperFirst($0.lowercased())
      }
    }
  }

  private static func lettersAndDigits(_ name: String) -> [String] {
    var words: [String] = []
    var word = ""
    for scalar in name.unicodeScalars {
      if ReservedName.isLetterOrDigit(scalar), scalar != "_" {
        word.unicodeScalars.append(scalar)
      } else if !"'\"`\u{2019}".unicodeScalars.contains(scalar), !word.isEmpty {
        words.append(word)
        word = ""
      }
    }
    return word.isEmpty ? words : words + [word]
  }

  private static func isUpper(_ name: String) -> Bool {
    name.contains { $0.isUppercase } && !name.contains { $0.isLowercase }
  }

  private static func startsWithLetter(_ name: String) -> Bool { ReservedName.isIdentifier(name) }
}
