import FerryConnector
import FerryModel
import FerryWire

@testable import FerrySQLiteStore
@testable import FerryServer

/// What users see, held against the truth.
extension RightsWorld {
  func saw(_ index: Int, _ entity: Entity, _ values: [AttributeValue]) {
    checks += 1
    for token in RightsWorld.tokens(of: values)
    where !(owners[token]?.contains(index) ?? false) && !token.isEmpty {
      leaks.append("\(people[index].name) got \(entity.name) \(values[0].shown) with \(token)")
    }
  }

  /// All that the user may have is on the device, and nothing else; contents are given for just that.
  func observe(_ index: Int) throws {
    let (device, person, rows) = (devices[index], people[index], bench.business.rows)
    login(index)
    try device.exchange()
    if device.failure != nil { leaks.append("\(person.name) met \(device.failure!)") }
    for entity in package.entities {
      for (key, row) in rows[entity.name] ?? [:] {
        let name = ObjectName(entity: entity.name, key: key)
        let isExpected = truth.includes(person, entity, row, rows, asChosen: true)
        let isThere = device.rows[name] != nil
        checks += 1
        if isThere != isExpected {
          leaks.append("\(person.name) \(isThere ? "has" : "lacks") \(entity.name) \(key.text)")
        }
        if dice.once(in: 4) { try ask(index, entity, key, row, rows) }
      }
    }
    for (name, _) in device.rows where rows[name.entity]?[name.key] == nil {
      leaks.append("\(person.name) has \(name.entity) \(name.key.text), which is deleted")
    }
  }

  func ask(
    _ index: Int, _ entity: Entity, _ key: ObjectKey, _ row: [AttributeValue], _ rows: Truth.Rows
  ) throws {
    checks += 1
    let question = ContentQuestion(
      entity: entity.name, key: key, attribute: "scan", wanted: nil,
      stretch: ContentStretch(start: 0))
    let found = try bench.service.reference(question, for: identity(people[index]))
    let isExpected = !row[5].isNull && truth.includes(people[index], entity, row, rows)
    switch found {
    case .success(let (reference, _, _)):
      if !isExpected || .text(reference.description) != row[5] {
        leaks.append("\(people[index].name) got the content of \(entity.name) \(key.text)")
      }
    case .failure(let refusal):
      if isExpected { leaks.append("\(people[index].name) lacks the content of \(key.text)") }
      if refusal.status != 404 { leaks.append("a content was refused with \(refusal.status)") }
    }
  }

  func hearAnswers(_ index: Int) {
    for (id, answer) in devices[index].answers where heard.insert(id).inserted {
      checks += 1
      for record in answer.logRecords {
        checks += 1
        if record.code == 403 {
          refused += 1
          if expected[id] != nil { exact += 1 }
          if let text = expected[id], text != record.message {
            leaks.append(
              "\(people[index].name) was refused with \"\(record.message)\", not \"\(text)\"")
          }
        }
        check(record, index)
      }
    }
  }

  /// A refusal names no secret, and is one of the texts that say nothing of what is there.
  func check(_ record: LogRecord, _ index: Int) {
    let text = record.message
    for start in text.utf8.indices.filter({ text.utf8[$0] == UInt8(ascii: "T") }) {
      let token = String(text[start...].prefix(7))
      if token.utf8.count == 7, token.dropFirst().allSatisfy(\.isNumber),
        !(owners[token]?.contains(index) ?? false)
      {
        leaks.append("\(people[index].name) was told \(token): \(text)")
      }
    }
    guard record.code == 403 else { return }
    let isKnown =
      text == "This \(record.component) is not among the user's objects."
      || text.hasPrefix("The roles of this user do not allow to ")
        && text.hasSuffix(" \(record.component).")
      || text == "This user may no longer change anything."
      || text == "The ref of this \(record.component) is not among the user's objects."
    if !isKnown { leaks.append("a refusal says more than it may: \(text)") }
  }
}
