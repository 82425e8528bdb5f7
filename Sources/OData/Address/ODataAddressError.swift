import FerryOData

extension ODataError.Code {
  /// A text that is no address of OData, or no expression.
  public static let address = ODataError.Code(rawValue: "address")
  /// Something that OData knows and this version, or this library, does not offer.
  public static let notOffered = ODataError.Code(rawValue: "not-offered")
  /// A name that the metadata does not have.
  public static let unknownName = ODataError.Code(rawValue: "unknown-name")
  /// Values of types that do not go together.
  public static let typeMismatch = ODataError.Code(rawValue: "type-mismatch")
  /// An expression that has no value for this entry: a division by zero, an overflow.
  public static let evaluation = ODataError.Code(rawValue: "evaluation")
}
