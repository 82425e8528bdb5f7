import FerryModel
import FerryWorld

extension AttributeType {
  func temporaryKey(_ chance: any Chance, _ id: OperationID) -> AttributeValue {
    guard let numbers = temporaryNumbers else { return .text("~\(id.text)") }
    let number = chance.number(in: numbers)
    return switch self {
    case .integer, .decimal: .text(String(number))
    default: .integer(number)
    }
  }
}
