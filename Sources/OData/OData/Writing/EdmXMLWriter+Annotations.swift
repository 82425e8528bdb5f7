/// Annotations of vocabularies with their values.
extension EdmXMLWriter {
  mutating func annotations(_ annotations: [EdmAnnotation]) throws(ODataError) {
    let element = isV4 ? "Annotation" : "ValueAnnotation"
    for annotation in annotations {
      writer.open(element)
      writer.attribute("Term", annotation.term)
      writer.optional("Qualifier", annotation.qualifier)
      try valued(annotation.value)
      try self.annotations(annotation.annotations)
      writer.close(element)
    }
  }

  /// The value of an element: an attribute where one can hold it, else an element inside.
  private mutating func valued(_ value: EdmExpression) throws(ODataError) {
    if let (name, text) = try constant(value) {
      writer.attribute(name, text)
    } else if case .operation("UrlRef", nil, let operands) = value, operands.count == 1,
      let text = operands[0].string
    {
      writer.attribute("UrlRef", text)
    } else {
      try expression(value)
    }
  }

  /// The name and text of a value that is one text; nil where it has parts.
  private func constant(_ value: EdmExpression) throws(ODataError) -> (String, String)? {
    switch value {
    case .boolean(let flag): return ("Bool", flag ? "true" : "false")
    case .integer(let number): return ("Int", String(number))
    case .float(let number): return ("Float", EdmValue.double(number).text)
    case .string(let text): return ("String", text)
    case .constant(let constant):
      guard let primitive = constant.primitive else {
        throw ODataError(.unwritable, "an annotation cannot hold a value of several parts")
      }
      return (String(primitive.rawValue.dropFirst("Edm.".count)), constant.text)
    case .enumeration(let members): return ("EnumMember", members.joined(separator: " "))
    case .path(let path): return ("Path", path)
    case .propertyPath(let path): return ("PropertyPath", path)
    case .navigationPropertyPath(let path): return ("NavigationPropertyPath", path)
    case .annotationPath(let path): return ("AnnotationPath", path)
    case .modelElementPath(let path): return ("ModelElementPath", path)
    case .null, .collection, .record, .apply, .operation: return nil
    case .unknown(let text):
      throw ODataError(
        .unwritable, "the value of an annotation was not understood: \(text)",
        hint: "replace it with an expression of OData")
    }
  }

  private mutating func expression(_ value: EdmExpression) throws(ODataError) {
    if let (name, text) = try constant(value) {
      writer.element(name, text)
      return
    }
    switch value {
    case .null: writer.element("Null", "")
    case .collection(let elements):
      writer.open("Collection")
      for element in elements { try expression(element) }
      writer.close("Collection")
    case .record(let type, let properties, let annotations):
      writer.open("Record")
      writer.optional("Type", type)
      for property in properties {
        writer.open("PropertyValue")
        writer.attribute("Property", property.name)
        try valued(property.value)
        try self.annotations(property.annotations)
        writer.close("PropertyValue")
      }
      try self.annotations(annotations)
      writer.close("Record")
    case .apply(let function, let operands):
      writer.open("Apply")
      writer.attribute("Function", function)
      for operand in operands { try expression(operand) }
      writer.close("Apply")
    case .operation(let name, let target, let operands):
      try operation(name, target, operands)
    default: break
    }
  }

  private mutating func operation(
    _ name: String, _ target: String?, _ operands: [EdmExpression]
  ) throws(ODataError) {
    writer.open(name)
    if name == "UrlRef", operands.count == 1, let text = operands[0].string {
      writer.text(text)
    } else {
      if let target {
        switch name {
        case "Cast", "IsOf", "IsType": writer.attribute("Type", target)
        case "LabeledElementReference": writer.text(target)
        default: writer.attribute("Name", target)
        }
      }
      for operand in operands { try expression(operand) }
    }
    writer.close(name)
  }
}
