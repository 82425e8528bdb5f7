import Foundation
import Testing

@Suite("The declarations of libxml2") struct LibraryTests {
  @Test("What we declare of libxml2 is laid out as its own headers say")
  func layout() throws {
    let renamed = ["xmlChar", "xmlError", "xmlSAXHandler", "xmlParserCtxtPtr"]
    let structs = ["_xmlError", "_xmlSAXHandler", "_xmlParserCtxt"]
    let functions = [
      "xmlCreatePushParserCtxt", "xmlParseChunk", "xmlCtxtUseOptions", "xmlStopParser",
      "xmlFreeParserCtxt", "xmlByteConsumed", "xmlSAX2GetLineNumber", "xmlSAX2GetColumnNumber",
      "xmlInitParser",
    ]
    let shim = DescribeTests.root.appendingPathComponent("Sources/System/CLibXML2/shim.h").path
    var text = ""
    for name in renamed + structs + functions { text += "#define \(name) our_\(name)\n" }
    text += "#include \"\(shim)\"\n"
    for name in renamed + structs + functions { text += "#undef \(name)\n" }
    text += "#include <libxml/parser.h>\n#include <libxml/SAX2.h>\n#include <stddef.h>\n"
    func same(_ type: String, _ fields: [String]) {
      text += "_Static_assert(sizeof(our_\(type)) == sizeof(\(type)), \"\(type)\");\n"
      for field in fields {
        text +=
          "_Static_assert(offsetof(our_\(type), \(field)) == offsetof(\(type), \(field)), "
          + "\"\(type).\(field)\");\n"
      }
    }
    same("xmlError", ["code", "message", "level", "line", "int1"])
    same(
      "xmlSAXHandler",
      [
        "internalSubset", "characters", "ignorableWhitespace", "cdataBlock", "initialized",
        "startElementNs", "endElementNs", "serror",
      ])
    text += "_Static_assert(XML_SAX2_MAGIC == 0xDEEDBEAF, \"magic\");\n"
    text +=
      "_Static_assert(XML_PARSE_NONET == 1 << 11 && XML_PARSE_HUGE == 1 << 19"
      + " && XML_PARSE_IGNORE_ENC == 1 << 21 && XML_PARSE_NOENT == 1 << 1, \"options\");\n"
    text +=
      "_Static_assert(XML_ERR_INVALID_CHAR == 9 && XML_ERR_INVALID_ENCODING == 81"
      + " && XML_NS_ERR_UNDEFINED_NAMESPACE == 201, \"errors\");\n"
    for name in functions {
      text += "_Static_assert(sizeof(&\(name)) == sizeof(&our_\(name)), \"\(name)\");\n"
    }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(
      "ferry-libxml-\(UUID().uuidString).c")
    let report = file.appendingPathExtension("log")
    defer {
      try? FileManager.default.removeItem(at: file)
      try? FileManager.default.removeItem(at: report)
    }
    try text.write(to: file, atomically: true, encoding: .utf8)
    try Data().write(to: report)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["clang", "-fsyntax-only", "-I/usr/include/libxml2", file.path]
    process.standardError = try FileHandle(forWritingTo: report)
    try process.run()
    process.waitUntilExit()
    let complaint = try String(decoding: Data(contentsOf: report), as: UTF8.self)
    #expect(process.terminationStatus == 0, "apt-get install libxml2-dev? \(complaint)")
  }
}
