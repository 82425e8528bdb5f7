// Stand-ins for the parts of SwiftUI that Samples/CallSites/Views.swift uses, so that Linux can check
// its types.
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
}
extension Optional: View where Wrapped: View {
  public var body: Never { return fatalError() }
}
public struct Parts: Leaf {}
public struct Text: Leaf { public init(_ text: String) {} }
public struct ProgressView: Leaf { public init(value: Double?) {} }
public struct TextField: Leaf { public init(_ title: String, text: Binding<String>) {} }
public struct Button: Leaf {
  public init(_ title: String, action: @escaping @MainActor () -> Void) {}
}
public struct List<Data: RandomAccessCollection>: Leaf where Data.Element: Identifiable {
  public init(_ data: Data, @ViewBuilder row: @escaping (Data.Element) -> some View) {}
}
@propertyWrapper @MainActor public struct State<Value> {
  public init(wrappedValue: Value) {}
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set {}
  }
  public var projectedValue: Binding<Value> { fatalError() }
}
@propertyWrapper @MainActor @dynamicMemberLookup public struct Binding<Value> {
  public init() {}
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set {}
  }
  public var projectedValue: Binding<Value> { self }
  public subscript<Part>(dynamicMember path: WritableKeyPath<Value, Part>) -> Binding<Part> {
    fatalError()
  }
}
extension View {
  public func task(_ action: @escaping @MainActor @Sendable () async -> Void) -> some View {
    Parts()
  }
}
