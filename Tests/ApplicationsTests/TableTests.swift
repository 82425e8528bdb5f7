import Foundation
import Testing

@testable import FerryApplications
@testable import FerryRegistration

@Suite("The tables of properties and numbers")
struct TableTests {
  private static let page: [String] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try? String(
      contentsOf: root.appending(path: "Documentation/Registration.md"), encoding: .utf8)
    return (text ?? "").components(separatedBy: "\n")
  }()

  @Test("The page has a row for each property, as the table in code has it, and no other")
  func properties() {
    let wanted = ConnectionProperty.all.map { property in
      let number = property.number.map { String($0) } ?? ""
      let value = property.defaultValue.map { "`\($0.text)`" } ?? ""
      return "| `\(property.name)` | \(property.category.rawValue) | \(number) "
        + "| \(property.kind.rawValue) | \(value == "``" ? "" : value) | \(property.writer.rawValue) "
        + "| \(property.meaning) |"
    }
    let found = Self.page.filter { line in
      line.hasPrefix("| `") && line.split(separator: "|").count == 7
    }
    #expect(found == wanted)
  }

  @Test("The page has a row for each number, as the table in code has it, and no other")
  func numbers() {
    let wanted = RegistrationCode.allCases.map { code in
      "| \(code.rawValue) | `\(code.name)` | \(code.referenceName.map { "`\($0)`" } ?? "") "
        + "| \(code.status.map { String($0) } ?? "") | \(code.cause) | \(code.cure) |"
    }
    let found = Self.page.filter { line in
      line.hasPrefix("| ") && line.split(separator: "|").count == 6
        && line.dropFirst(2).first?.isNumber == true
    }
    #expect(found == wanted)
  }

  @Test("Names and numbers of properties are there once")
  func unique() {
    let names = ConnectionProperty.all.map(\.name)
    let numbers = ConnectionProperty.all.compactMap(\.number)
    #expect(Set(names).count == names.count && Set(numbers).count == numbers.count)
    #expect(ApplicationsMetadata.metadata != nil)
  }

  @Test("A member of the file of applications that is unknown or wrong is named with its place")
  func file() {
    for (text, fault) in [
      (#"{"applications": []}"#, "no list"), (#"{"application": []}"#, "no member"),
      (#"{"applications": [{"id": "a b"}]}"#, "needs an id"),
      (#"{"applications": [{"id": "a", "service": []}]}"#, "no member"),
      (#"{"applications": [{"id": "a"}, {"id": "a"}]}"#, "two applications"),
      (#"{"applications": [{"id": "a", "queue": 0}]}"#, "queue"),
      (#"{"applications": [{"id": "a", "admission": "no"}]}"#, "admission"),
      (#"{"applications": [{"id": "a", "anonymous": 1}]}"#, "anonymous"),
      (#"{"applications": [{"id": "a", "id": "b"}]}"#, "twice"), ("{", "f:1"),
    ] {
      do throws(ApplicationsError) {
        _ = try ApplicationsFile(Array(text.utf8), name: "f")
        Issue.record("no fault: \(text)")
      } catch { #expect(error.message.contains(fault), "\(error)") }
    }
    let good = #"{"applications": [{"id": "a", "services": ["x"], "users": ["u"], "queue": 5}]}"#
    let application = try? ApplicationsFile(Array(good.utf8), name: "f").applications.first
    #expect(application?.services == ["x"] && application?.queue == 5)
  }
}
