import FerryJSON
import FerryModel
import FerryRESTConnector

/// Values as JSON has them.
enum PlainNotice {
  static func read(_ node: JSONNode, _ type: AttributeType) -> AttributeValue? {
    PlainValue.read(node, type)
  }
}
