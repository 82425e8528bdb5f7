extension EdmXMLReader {
  mutating func enumType(_ element: XMLElement, _ space: String) -> EdmEnumType {
    var type = EdmEnumType(
      namespace: space, name: required(element, "Name"),
      underlyingType: element.attribute("UnderlyingType").flatMap { EdmPrimitive(name: $0) }
        ?? .int32,
      isFlags: flag(element, "IsFlags"), members: [], annotations: [])
    var next: Int64 = 0
    for child in element.children {
      switch child.local {
      case "Member":
        var value = next
        if let text = child.attribute("Value") {
          if let number = Int64(text.trimmed) {
            value = number
          } else {
            diagnostics.add(
              "the member value \"\(text)\" is not an integer", child.place, "\(next) is taken")
          }
        }
        next = value.addingReportingOverflow(1).partialValue
        var member = EdmEnumType.Member(
          name: required(child, "Name"), value: value, annotations: [])
        member.annotations = annotations(child)
        type.members.append(member)
      case "Annotation", "ValueAnnotation": type.annotations.append(annotation(child))
      case "Documentation": break
      default: unknown(child)
      }
    }
    return type
  }

  mutating func definition(_ element: XMLElement, _ space: String) -> EdmTypeDefinition {
    EdmTypeDefinition(
      namespace: space, name: required(element, "Name"),
      underlyingType: type(required(element, "UnderlyingType")), facets: facets(element),
      annotations: annotations(element))
  }

  mutating func term(_ element: XMLElement, _ space: String) -> EdmTerm {
    EdmTerm(
      namespace: space, name: required(element, "Name"), type: type(required(element, "Type")),
      baseTerm: element.attribute("BaseTerm").map { resolve($0) },
      appliesTo: element.attribute("AppliesTo")?.split(separator: " ").map(String.init) ?? [],
      facets: facets(element), annotations: annotations(element))
  }

  mutating func association(_ element: XMLElement, _ space: String) -> EdmAssociation {
    var association = EdmAssociation(
      namespace: space, name: required(element, "Name"), ends: [], constraint: nil,
      attributes: attributes(element))
    for child in element.children {
      switch child.local {
      case "End":
        let type = resolve(required(child, "Type").trimmed)
        association.ends.append(
          EdmAssociation.End(
            role: child.attribute("Role") ?? EdmNames.last(type), type: type,
            multiplicity: required(child, "Multiplicity"),
            onDelete: child.child(child.space, "OnDelete")?.attribute("Action")))
      case "ReferentialConstraint":
        var constraint = EdmAssociation.Constraint(
          principalRole: "", principalProperties: [], dependentRole: "", dependentProperties: [])
        for side in child.children {
          let names = side.children.filter { $0.local == "PropertyRef" }.compactMap {
            $0.attribute("Name")
          }
          if side.local == "Principal" {
            constraint.principalRole = side.attribute("Role") ?? ""
            constraint.principalProperties = names
          } else if side.local == "Dependent" {
            constraint.dependentRole = side.attribute("Role") ?? ""
            constraint.dependentProperties = names
          }
        }
        association.constraint = constraint
      case "Documentation", "Annotation", "ValueAnnotation": break
      default: unknown(child)
      }
    }
    return association
  }

  mutating func returnType(_ element: XMLElement) -> EdmReturnType? {
    if let text = element.attribute("ReturnType") {
      return EdmReturnType(type: type(text), facets: EdmFacets())
    }
    guard let child = element.child(element.space, "ReturnType") else { return nil }
    var reference = type(child.attribute("Type") ?? "")
    // V3 may nest the type; `CollectionType ElementType="…"`.
    if child.attribute("Type") == nil, let inner = child.child(child.space, "CollectionType") {
      reference = EdmTypeReference(
        type(inner.attribute("ElementType") ?? "").name, isCollection: true)
    }
    return EdmReturnType(
      type: reference, facets: facets(child), annotations: annotations(child))
  }

  mutating func parameter(_ element: XMLElement) -> EdmParameter {
    EdmParameter(
      name: required(element, "Name"), type: type(required(element, "Type")),
      mode: element.attribute("Mode").flatMap { EdmParameter.Mode(rawValue: $0) } ?? .in,
      facets: facets(element), attributes: attributes(element), annotations: annotations(element))
  }

  mutating func operation(
    _ element: XMLElement, _ space: String, isFunction: Bool
  ) -> EdmOperation {
    var operation = EdmOperation(
      isFunction: isFunction, namespace: space, name: required(element, "Name"),
      isBound: flag(element, "IsBound"), isComposable: flag(element, "IsComposable"),
      entitySetPath: element.attribute("EntitySetPath"), parameters: [],
      returnType: returnType(element), annotations: annotations(element))
    for child in element.children where child.local == "Parameter" {
      operation.parameters.append(parameter(child))
    }
    return operation
  }

  mutating func container(_ element: XMLElement, _ space: String) -> EdmContainer {
    var container = EdmContainer(
      namespace: space, name: required(element, "Name"),
      extends: element.attribute("Extends").map { resolve($0.trimmed) },
      isDefault: flag(element, "IsDefaultEntityContainer", space: .metadata))
    container.attributes = attributes(element)
    for child in element.children {
      switch child.local {
      case "EntitySet":
        container.entitySets.append(
          EdmEntitySet(
            name: required(child, "Name"),
            entityType: resolve(required(child, "EntityType").trimmed),
            isInServiceDocument: flag(child, "IncludeInServiceDocument", true),
            bindings: bindings(child), attributes: attributes(child),
            annotations: annotations(child)))
      case "Singleton":
        container.singletons.append(
          EdmSingleton(
            name: required(child, "Name"), type: resolve(required(child, "Type").trimmed),
            isNullable: flag(child, "Nullable"), bindings: bindings(child),
            annotations: annotations(child)))
      case "AssociationSet":
        container.associationSets.append(
          EdmAssociationSet(
            name: required(child, "Name"),
            association: resolve(required(child, "Association").trimmed),
            ends: child.children.filter { $0.local == "End" }.map {
              EdmAssociationSet.End(
                role: $0.attribute("Role") ?? "", entitySet: $0.attribute("EntitySet") ?? "")
            }, attributes: attributes(child)))
      case "FunctionImport": container.functionImports.append(functionImport(child))
      case "ActionImport":
        container.actionImports.append(
          EdmActionImport(
            name: required(child, "Name"), action: resolve(required(child, "Action").trimmed),
            entitySet: child.attribute("EntitySet"), annotations: annotations(child)))
      case "Annotation", "ValueAnnotation": container.annotations.append(annotation(child))
      case "Documentation", "TypeAnnotation": break
      default: unknown(child)
      }
    }
    return container
  }

  private mutating func functionImport(_ element: XMLElement) -> EdmFunctionImport {
    let function = element.attribute("Function").map { resolve($0.trimmed) }
    return EdmFunctionImport(
      name: required(element, "Name"), function: function,
      entitySet: element.attribute("EntitySet"),
      isInServiceDocument: flag(element, "IncludeInServiceDocument"),
      returnType: returnType(element),
      method: element.attribute("HttpMethod", .metadata) ?? element.attribute("HttpMethod"),
      isSideEffecting: flag(element, "IsSideEffecting", function == nil),
      isBindable: flag(element, "IsBindable"),
      parameters: element.children.filter { $0.local == "Parameter" }.map { parameter($0) },
      attributes: attributes(element), annotations: annotations(element))
  }

  private mutating func bindings(_ element: XMLElement) -> [EdmNavigationBinding] {
    element.children.filter { $0.local == "NavigationPropertyBinding" }.map {
      EdmNavigationBinding(
        path: required($0, "Path"), target: resolve(required($0, "Target")))
    }
  }

  mutating func annotations(_ element: XMLElement) -> [EdmAnnotation] {
    element.children.filter { $0.local == "Annotation" || $0.local == "ValueAnnotation" }.map {
      annotation($0)
    }
  }

  mutating func annotation(_ element: XMLElement) -> EdmAnnotation {
    var annotation = EdmAnnotation(
      term: resolve(required(element, "Term")), qualifier: element.attribute("Qualifier"))
    if let value = expression(of: element) { annotation.value = value }
    annotation.annotations = annotations(element)
    return annotation
  }

  /// The value that an attribute or the first fitting child gives; nil where there is none.
  private mutating func expression(of element: XMLElement) -> EdmExpression? {
    for (name, text) in element.attributes where name.space == .none {
      if let value = constant(name.local, text, element) { return value }
    }
    for child in element.children where child.local != "Annotation" {
      return expression(child)
    }
    return nil
  }

  private mutating func constant(
    _ kind: String, _ text: String, _ element: XMLElement
  ) -> EdmExpression? {
    func primitive(_ type: EdmPrimitive) -> EdmExpression {
      if let value = EdmValue(text: text, type: type) { return .constant(value) }
      diagnostics.add(
        "\"\(text)\" is not an \(type.rawValue)", element.place, "the annotation keeps it as text")
      return .unknown(text)
    }
    switch kind {
    case "String": return .string(text)
    case "Bool":
      if text == "true" || text == "1" { return .boolean(true) }
      if text == "false" || text == "0" { return .boolean(false) }
      return primitive(.boolean)
    case "Int":
      if let value = Int64(text.trimmed) { return .integer(value) }
      return primitive(.int64)
    case "Float":
      if case .double(let value)? = EdmValue(text: text, type: .double) { return .float(value) }
      return primitive(.double)
    case "Decimal": return primitive(.decimal)
    case "Date": return primitive(.date)
    case "DateTimeOffset": return primitive(.dateTimeOffset)
    case "DateTime": return primitive(.dateTime)
    case "Time": return primitive(.time)
    case "TimeOfDay": return primitive(.timeOfDay)
    case "Duration": return primitive(.duration)
    case "Guid": return primitive(.guid)
    case "Binary": return primitive(.binary)
    case "EnumMember":
      return .enumeration(
        text.split(whereSeparator: \.isWhitespace).map { member in
          let parts = member.split(separator: "/", maxSplits: 1)
          return parts.count == 2 ? "\(resolve(String(parts[0])))/\(parts[1])" : String(member)
        })
    case "Path": return .path(text)
    case "PropertyPath": return .propertyPath(text)
    case "NavigationPropertyPath": return .navigationPropertyPath(text)
    case "AnnotationPath": return .annotationPath(text)
    case "ModelElementPath": return .modelElementPath(text)
    case "UrlRef": return .operation("UrlRef", name: nil, [.string(text)])
    default: return nil
    }
  }

  private mutating func expression(_ element: XMLElement) -> EdmExpression {
    switch element.local {
    case "Null": return .null
    case "Collection": return .collection(element.children.map { expression($0) })
    case "Record":
      return .record(
        type: element.attribute("Type").map { resolve($0) },
        element.children.filter { $0.local == "PropertyValue" }.map {
          EdmPropertyValue(
            name: required($0, "Property"), value: self.expression(of: $0) ?? .boolean(true),
            annotations: annotations($0))
        }, annotations: annotations(element))
    case "Apply":
      return .apply(
        function: element.attribute("Function") ?? "",
        element.children.filter { $0.local != "Annotation" }.map { expression($0) })
    case "Path" where element.hasChildren: return .unknown(element.text)
    default:
      if let value = constant(element.local, element.text, element), !element.hasChildren {
        return value
      }
      let operands = element.children.filter { $0.local != "Annotation" }.map { expression($0) }
      let name = element.attribute("Name") ?? element.attribute("Type").map { resolve($0) }
      let known: Set<String> = [
        "If", "And", "Or", "Not", "Eq", "Ne", "Gt", "Ge", "Lt", "Le", "Has", "In", "Cast", "IsOf",
        "IsType", "LabeledElement", "LabeledElementReference", "UrlRef", "Add", "Sub", "Neg", "Mul",
        "Div", "DivBy", "Mod",
      ]
      if known.contains(element.local) {
        return .operation(element.local, name: name ?? element.text.nilIfEmpty, operands)
      }
      diagnostics.add(
        "the expression \(element.local) is not known", element.place, "it is kept as text")
      return .unknown(element.text)
    }
  }
}

extension String {
  var nilIfEmpty: String? { trimmed.isEmpty ? nil : trimmed }
}
