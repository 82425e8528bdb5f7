/// Enumerations, associations, operations and the container.
extension EdmXMLWriter {
  mutating func enumType(_ type: EdmEnumType) throws(ODataError) {
    writer.open("EnumType")
    writer.attribute("Name", type.name)
    if type.underlyingType != .int32 {
      writer.attribute("UnderlyingType", type.underlyingType.rawValue)
    }
    flag("IsFlags", type.isFlags)
    for member in type.members {
      writer.open("Member")
      writer.attribute("Name", member.name)
      writer.attribute("Value", String(member.value))
      try annotations(member.annotations)
      writer.close("Member")
    }
    try annotations(type.annotations)
    writer.close("EnumType")
  }

  mutating func definition(_ type: EdmTypeDefinition) throws(ODataError) {
    writer.open("TypeDefinition")
    writer.attribute("Name", type.name)
    writer.attribute("UnderlyingType", type.underlyingType.description)
    facets(type.facets)
    try annotations(type.annotations)
    writer.close("TypeDefinition")
  }

  mutating func term(_ term: EdmTerm) throws(ODataError) {
    let element = isV4 ? "Term" : "ValueTerm"
    writer.open(element)
    writer.attribute("Name", term.name)
    writer.attribute("Type", term.type.description)
    writer.optional("BaseTerm", term.baseTerm)
    if !term.appliesTo.isEmpty {
      writer.attribute("AppliesTo", term.appliesTo.joined(separator: " "))
    }
    facets(term.facets)
    try annotations(term.annotations)
    writer.close(element)
  }

  mutating func association(_ association: EdmAssociation) {
    writer.open("Association")
    writer.attribute("Name", association.name)
    attributes(association.attributes)
    for end in association.ends {
      writer.open("End")
      writer.attribute("Role", end.role)
      writer.attribute("Type", end.type)
      writer.attribute("Multiplicity", end.multiplicity)
      if let action = end.onDelete {
        writer.open("OnDelete")
        writer.attribute("Action", action)
        writer.close("OnDelete")
      }
      writer.close("End")
    }
    if let constraint = association.constraint {
      writer.open("ReferentialConstraint")
      side("Principal", constraint.principalRole, constraint.principalProperties)
      side("Dependent", constraint.dependentRole, constraint.dependentProperties)
      writer.close("ReferentialConstraint")
    }
    writer.close("Association")
  }

  private mutating func side(_ element: String, _ role: String, _ properties: [String]) {
    writer.open(element)
    writer.attribute("Role", role)
    for property in properties {
      writer.open("PropertyRef")
      writer.attribute("Name", property)
      writer.close("PropertyRef")
    }
    writer.close(element)
  }

  mutating func operation(_ operation: EdmOperation) throws(ODataError) {
    let element = operation.isFunction ? "Function" : "Action"
    writer.open(element)
    writer.attribute("Name", operation.name)
    flag("IsBound", operation.isBound)
    flag("IsComposable", operation.isComposable)
    writer.optional("EntitySetPath", operation.entitySetPath)
    for parameter in operation.parameters { try self.parameter(parameter) }
    if let result = operation.returnType { try returnType(result) }
    try annotations(operation.annotations)
    writer.close(element)
  }

  private mutating func parameter(_ parameter: EdmParameter) throws(ODataError) {
    writer.open("Parameter")
    writer.attribute("Name", parameter.name)
    writer.attribute("Type", parameter.type.description)
    if !isV4 { writer.attribute("Mode", parameter.mode.rawValue) }
    facets(parameter.facets)
    attributes(parameter.attributes)
    try annotations(parameter.annotations)
    writer.close("Parameter")
  }

  private mutating func returnType(_ result: EdmReturnType) throws(ODataError) {
    writer.open("ReturnType")
    writer.attribute("Type", result.type.description)
    facets(result.facets)
    try annotations(result.annotations)
    writer.close("ReturnType")
  }

  mutating func container(_ container: EdmContainer) throws(ODataError) {
    writer.open("EntityContainer")
    writer.attribute("Name", container.name)
    writer.optional("Extends", container.extends)
    if container.isDefault, !isV4, !isMarked("IsDefaultEntityContainer", container.attributes) {
      writer.attribute("m:IsDefaultEntityContainer", "true")
    }
    attributes(container.attributes)
    for set in container.entitySets { try self.set(set) }
    for singleton in container.singletons {
      writer.open("Singleton")
      writer.attribute("Name", singleton.name)
      writer.attribute("Type", singleton.type)
      flag("Nullable", singleton.isNullable)
      bindings(singleton.bindings)
      try annotations(singleton.annotations)
      writer.close("Singleton")
    }
    for set in container.associationSets {
      writer.open("AssociationSet")
      writer.attribute("Name", set.name)
      writer.attribute("Association", set.association)
      attributes(set.attributes)
      for end in set.ends {
        writer.open("End")
        writer.attribute("Role", end.role)
        writer.attribute("EntitySet", end.entitySet)
        writer.close("End")
      }
      writer.close("AssociationSet")
    }
    for function in container.functionImports { try functionImport(function) }
    for action in container.actionImports {
      writer.open("ActionImport")
      writer.attribute("Name", action.name)
      writer.attribute("Action", action.action)
      writer.optional("EntitySet", action.entitySet)
      try annotations(action.annotations)
      writer.close("ActionImport")
    }
    try annotations(container.annotations)
    writer.close("EntityContainer")
  }

  private mutating func set(_ set: EdmEntitySet) throws(ODataError) {
    writer.open("EntitySet")
    writer.attribute("Name", set.name)
    writer.attribute("EntityType", set.entityType)
    if !set.isInServiceDocument { writer.attribute("IncludeInServiceDocument", "false") }
    attributes(set.attributes)
    bindings(set.bindings)
    try annotations(set.annotations)
    writer.close("EntitySet")
  }

  private mutating func bindings(_ bindings: [EdmNavigationBinding]) {
    for binding in bindings {
      writer.open("NavigationPropertyBinding")
      writer.attribute("Path", binding.path)
      writer.attribute("Target", binding.target)
      writer.close("NavigationPropertyBinding")
    }
  }

  private mutating func functionImport(_ function: EdmFunctionImport) throws(ODataError) {
    writer.open("FunctionImport")
    writer.attribute("Name", function.name)
    writer.optional("Function", function.function)
    writer.optional("EntitySet", function.entitySet)
    flag("IncludeInServiceDocument", function.isInServiceDocument)
    if function.isSideEffecting != (function.function == nil) {
      writer.attribute("IsSideEffecting", function.isSideEffecting ? "true" : "false")
    }
    flag("IsBindable", function.isBindable)
    if let method = function.method, !isMarked("HttpMethod", function.attributes) {
      writer.attribute(isV4 ? "HttpMethod" : "m:HttpMethod", method)
    }
    // The old form is an attribute, which has no facets.
    let result = function.returnType
    let isPlain = result?.facets == EdmFacets() && result?.annotations.isEmpty == true
    if isPlain { writer.optional("ReturnType", result?.type.description) }
    attributes(function.attributes)
    if let result, !isPlain { try returnType(result) }
    for parameter in function.parameters { try self.parameter(parameter) }
    try annotations(function.annotations)
    writer.close("FunctionImport")
  }
}
