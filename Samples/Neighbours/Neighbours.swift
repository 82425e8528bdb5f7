// Names that GRDB, SwiftData and RealityKit bring into a file. The call sites import them beside Ferry:
// an ambiguous name would not compile.
public class Database {}
public class Record {}
public struct Query<Value> {}
public class Entity {}
public struct Attribute {}
public struct Relationship {}
public protocol Key {}
public enum Value {}
