import FerryModel
import FerryRESTConnector
import Testing

/// Wrong mappings: where, and what to do.
@Suite(.timeLimit(.minutes(60)))
struct MappingTests {
  private func fault(_ text: String) -> RESTMappingFault? {
    do throws(RESTMappingFault) {
      _ = try RESTMapping(Array(text.utf8), for: Bench.package)
      return nil
    } catch { return error }
  }

  private static func rules(_ rules: String) -> String {
    Bench.text(top: "\"results\": [\(rules)]")
  }

  /// A rule that only looks like an earlier one is no mistake.
  @Test func rulesForOtherAnswersAreTaken() {
    let rules = #"""
      {"for": "create", "at": "/a", "means": "refusal"}, {"at": "/a", "is": 1, "means": "lost"},
      {"at": "/a", "means": "warning", "text": "Look."}, {"status": 409, "means": "later"},
      {"status": "4xx", "means": "failure", "code": 503}
      """#
    #expect(fault(MappingTests.rules(rules)) == nil)
  }

  @Test func aGoodOneIsTaken() { #expect(fault(Bench.text()) == nil) }

  @Test(arguments: [
    ("{", "byte 1"), ("{}", "/"), ("{\"entitys\": {}}", "/entitys"),
    ("{\"entities\": {\"Itm\": {}}}", "/entities/Itm"),
    ("{\"entities\": {\"Item\": {}}}", "/entities/Item"),
    (Bench.text(top: "\"late\": 3"), "/late"),
    (Bench.text(top: "\"service\": \"ftp://x\""), "/service"),
    (Bench.text(top: "\"service\": \"http://user:word@x\""), "/service"),
    (Bench.text(top: "\"headers\": {\"X-A\": \"a\\r\\nX-B: b\"}"), "/headers/X-A"),
    (Bench.text(top: "\"headers\": {\"X A\": \"a\"}"), "/headers/X A"),
    (
      Bench.text(top: "\"credential\": {\"bearer\": true, \"token\": \"secret\"}"),
      "/credential/token"
    ),
    (Bench.text(top: "\"credential\": {\"bearer\": true}"), "/credential"),
    (Bench.text("\"memory\": {\"marker\": \"/marker\"}"), "/entities/Item/memory"),
    (Bench.text("\"condition\": \"test\""), "/entities/Item/condition"),
    (Bench.text("\"condition\": \"etags\""), "/entities/Item/condition"),
    (Bench.text("\"fields\": {\"nme\": \"/name\"}"), "/entities/Item/fields/nme"),
    (Bench.text("\"fields\": {\"name\": \"/a~2\"}"), "/entities/Item/fields/name"),
    (Bench.text("\"fields\": {\"name\": {\"form\": \"xml\"}}"), "/entities/Item/fields/name/form"),
    (
      Bench.text(list: "\"paging\": {\"offset\": \"o\", \"page\": \"p\"}"),
      "/entities/Item/list/paging"
    ),
    (Bench.text(update: "\"/items/1\""), "/entities/Item"),
    (Bench.text(update: "\"/items/{key}\""), "/entities/Item/update"),
    (Bench.text(update: "\"items/{id}\""), "/entities/Item/update"),
    (Bench.text(update: "\"//host/{id}\""), "/entities/Item/update"),
    (Bench.text(update: "\"/../{id}\""), "/entities/Item/update"),
    (Bench.text(update: "\"/%2e%2e/{id}\""), "/entities/Item/update"),
    (Bench.text(update: "\"/items/{id\""), "/entities/Item/update"),
    (Bench.text(update: "\"/items/{id*}\""), "/entities/Item/update"),
    (
      Bench.text(update: "{\"address\": \"/items/{id}\", \"method\": \"BREW\"}"),
      "/entities/Item/update/method"
    ),
    (
      Bench.text(update: "{\"address\": \"/items/{id}\", \"address\": \"/x/{id}\"}"),
      "/entities/Item/update/address"
    ),
    (
      Bench.text(top: "\"results\": [{\"status\": 99, \"means\": \"refusal\"}]"),
      "/results/0/status"
    ),
    (rules(#"{"means": "refusal"}"#), "/results/0"),
    (rules(#"{"for": "create", "means": "refusal"}"#), "/results/0"),
    (rules(#"{"status": 200, "is": 1, "means": "refusal"}"#), "/results/0/is"),
    (rules(#"{"at": "/a", "is": [], "means": "refusal"}"#), "/results/0/is"),
    (rules(#"{"at": "/a", "is": [{}], "means": "refusal"}"#), "/results/0/is"),
    (rules(#"{"at": "/a", "header": "A", "means": "refusal"}"#), "/results/0/at"),
    (rules(#"{"at": "/a", "means": "warning", "code": 412}"#), "/results/0/code"),
    (rules(#"{"at": "/a", "means": "success", "text": "Good."}"#), "/results/0/text"),
    (rules(#"{"at": "/a", "means": "changed", "textAt": "/b"}"#), "/results/0/textAt"),
    (rules(#"{"at": "/a", "means": "refused"}"#), "/results/0/means"),
    (rules(#"{"at": "/a", "for": "read", "means": "lost"}"#), "/results/0/for"),
    (rules(#"{"at": "/a", "for": [], "means": "lost"}"#), "/results/0/for"),
    (
      rules(
        #"{"status": "4xx", "means": "refusal"}, {"status": 409, "at": "/a", "means": "later"}"#),
      "/results/1"
    ),
    (
      rules(
        #"{"at": "/a", "is": ["1", 2], "means": "lost"}, {"at": "/a", "is": 2, "means": "later"}"#),
      "/results/1"
    ),
    (Bench.text(#""results": {}"#), "/entities/Item/results"),
    (Bench.text("\"deletes\": {\"address\": \"/gone\"}"), "/entities/Item/deletes"),
  ])
  func aWrongOneSaysWhere(_ text: String, _ place: String) {
    let fault = fault(text)
    #expect(fault?.place == place, "\(text): \(String(describing: fault))")
    #expect(fault?.cure.isEmpty == false)
  }
}
