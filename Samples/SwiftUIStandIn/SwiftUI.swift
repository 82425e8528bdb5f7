// Stand-ins for the parts of SwiftUI that Samples/CallSites and the products for SwiftUI use, so that
// Linux can check their types. Scripts/check swiftui compiles them as a module of the name SwiftUI.
@MainActor public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}
extension Never: View { public var body: Never { return fatalError() } }
public protocol Leaf: View where Body == Never {}
extension Leaf { public var body: Never { return fatalError() } }
@resultBuilder @MainActor public enum ViewBuilder {
  public static func buildBlock<each Part: View>(_ part: repeat each Part) -> Parts { Parts() }
  public static func buildIf<Part: View>(_ part: Part?) -> Part? { part }
  public static func buildEither<Part: View>(first part: Part) -> Parts { Parts() }
  public static func buildEither<Part: View>(second part: Part) -> Parts { Parts() }
}
extension Optional: View where Wrapped: View {
  public var body: Never { return fatalError() }
}
public struct Parts: Leaf {}
public struct Text: Leaf { public init(_ text: String) {} }
public struct ProgressView: Leaf {
  public init() {}
  public init(value: Double?) {}
}
public struct TextField: Leaf { public init(_ title: String, text: Binding<String>) {} }
public struct ButtonRole: Sendable { public static let destructive = ButtonRole() }
public struct Button: Leaf {
  public init(_ title: String, action: @escaping @MainActor () -> Void) {}
  public init(_ title: String, role: ButtonRole?, action: @escaping @MainActor () -> Void) {}
  public init(action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> some View) {}
}
public struct List: Leaf {
  public init<Data: RandomAccessCollection>(
    _ data: Data, @ViewBuilder row: @escaping (Data.Element) -> some View
  ) where Data.Element: Identifiable {}
  public init(@ViewBuilder content: () -> some View) {}
}
public struct ForEach: Leaf {
  public init<Data: RandomAccessCollection>(
    _ data: Data, @ViewBuilder content: @escaping (Data.Element) -> some View
  ) where Data.Element: Identifiable {}
  public init<Data: RandomAccessCollection, ID: Hashable>(
    _ data: Data, id: KeyPath<Data.Element, ID>,
    @ViewBuilder content: @escaping (Data.Element) -> some View
  ) {}
}
public struct Section: Leaf {
  public init(@ViewBuilder content: () -> some View) {}
  public init(_ title: String, @ViewBuilder content: () -> some View) {}
}
public enum HorizontalAlignment: Sendable { case leading, center, trailing }
public struct VStack: Leaf {
  public init(alignment: HorizontalAlignment = .center, @ViewBuilder content: () -> some View) {}
}
public struct Toggle: Leaf { public init(_ title: String, isOn: Binding<Bool>) {} }
public struct Picker: Leaf {
  public init<Value: Hashable>(
    _ title: String, selection: Binding<Value>, @ViewBuilder content: () -> some View
  ) {}
}
public struct ShareLink: Leaf {
  public init(item: String, @ViewBuilder label: () -> some View) {}
}
public enum Font: Sendable { case caption }
public protocol DynamicProperty { mutating func update() }
extension DynamicProperty { public mutating func update() {} }
@propertyWrapper public struct State<Value>: DynamicProperty {
  public init(wrappedValue: Value) {}
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set {}
  }
  public var projectedValue: Binding<Value> { fatalError() }
}
public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Value { get }
}
public struct EnvironmentValues {
  public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
    get { Key.defaultValue }
    set {}
  }
}
@propertyWrapper public struct Environment<Value>: DynamicProperty {
  public init(_ path: KeyPath<EnvironmentValues, Value>) {}
  public var wrappedValue: Value { fatalError() }
}
@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
  public init(
    get: @escaping @isolated(any) @Sendable () -> Value,
    set: @escaping @isolated(any) @Sendable (Value) -> Void
  ) {}
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set {}
  }
  public var projectedValue: Binding<Value> { self }
  public subscript<Part>(dynamicMember path: WritableKeyPath<Value, Part>) -> Binding<Part> {
    fatalError()
  }
}
extension Binding: Sendable where Value: Sendable {}
extension View {
  public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> some View {
    Parts()
  }
  public func environment<Value>(
    _ path: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
  ) -> some View { Parts() }
  public func refreshable(
    action: @escaping @MainActor @Sendable () async -> Void
  ) -> some View { Parts() }
  public func onSubmit(_ action: @escaping () -> Void) -> some View { Parts() }
  public func onChange<Value: Equatable>(
    of value: Value, _ action: @escaping () -> Void
  ) -> some View { Parts() }
  public func font(_ font: Font?) -> some View { Parts() }
  public func tag<Value: Hashable>(_ value: Value) -> some View { Parts() }
  public func accessibilityHint(_ hint: Text) -> some View { Parts() }
}
