import FerryOData

/// An address of OData: a service, a resource path and query options.
///
/// A value that is built step by step (`ODataAddress(root).entitySet("Orders").key(1)`), parsed
/// from text (`ODataAddress(parsing:)`), and written (`uri(_:)`). What is built for a version is
/// parsed to the same, but for the widths of numbers: 5 is read as the smallest type that holds it,
/// and V4 writes no mark for the others.
public struct ODataAddress: Sendable, Hashable {
  /// Scheme, host and path of the service with a slash at the end, as written; empty for a
  /// relative address.
  public var service: String
  /// In order, behind the service; empty for its root.
  public var path: [ODataSegment]
  /// Empty for an address without a question mark.
  public var options: ODataQueryOptions
  /// What stands behind `#`, as in a context URL; decoded.
  public var fragment: String?
  /// Of the segments, where they were parsed.
  public var columns: ODataColumns = ODataColumns()

  /// The root of a service: every chain begins here. Nothing is checked before `uri(_:)`.
  public init(_ service: String = "") {
    self.service = service.isEmpty || service.hasSuffix("/") ? service : service + "/"
    path = []
    options = ODataQueryOptions()
  }

  /// Parses an absolute or relative address.
  ///
  /// With metadata, names and types are checked too. Throws `address` with the column where the
  /// text is no address, `limit` where it passes a quota, `notOffered` for what the version has
  /// not, `unknownName` and `typeMismatch` for what the metadata contradicts.
  public init(
    parsing uri: String, _ settings: ODataAddressSettings = ODataAddressSettings()
  ) throws(ODataError) {
    let parser = AddressParser(Array(uri.utf8), settings)
    do { self = try parser.wholeAddress() } catch { throw error.error }
    if let metadata = settings.metadata { _ = try ODataResolvedAddress(self, in: metadata) }
  }
}

/// How an address is read.
public struct ODataAddressSettings: Sendable {
  /// Decides which literals, options and functions are known.
  public var version: ODataVersion
  /// Tells where the service ends and the path begins, and checks names and types.
  public var metadata: EdmMetadata?
  /// Where the service begins; nil to find out by metadata, by `.svc`, or by looks.
  public var service: String?
  /// Whether `+` in the query means a blank everywhere, as forms and old servers have it. By the
  /// ABNF it is a plus inside a string; outside of strings it is read as a blank in any case.
  public var readsPlusAsBlank: Bool
  /// `standard` unless given.
  public var limits: ODataAddressLimits

  /// The version is that of the metadata, else 4.
  public init(
    version: ODataVersion? = nil, metadata: EdmMetadata? = nil, service: String? = nil,
    readsPlusAsBlank: Bool = false, limits: ODataAddressLimits = .standard
  ) {
    self.version = version ?? metadata?.version ?? .v4
    self.metadata = metadata
    self.service = service
    self.readsPlusAsBlank = readsPlusAsBlank
    self.limits = limits
  }
}

extension ODataExpression {
  /// Parses a condition or value as it stands in `$filter`, not percent-encoded.
  ///
  /// Throws as `ODataAddress(parsing:)`; columns are those of the text.
  public init(
    parsing text: String, _ settings: ODataAddressSettings = ODataAddressSettings()
  ) throws(ODataError) {
    let parser = AddressParser(Array(text.utf8), settings)
    do { self = try parser.wholeExpression() } catch { throw error.error }
  }
}
