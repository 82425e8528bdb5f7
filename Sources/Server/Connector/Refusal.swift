import FerryModel

/// The business said no. The codes are the reference's (sync/Q11).
public struct Refusal: Sendable, Hashable {
  /// One attribute that somebody else changed meanwhile.
  public struct Conflict: Sendable, Hashable {
    public let attribute: String
    /// What the change was based on.
    public let baseValue: AttributeValue
    /// What the business system has; a text for people where it does not fit the model.
    public let currentValue: AttributeValue
    /// The same for messages, where the value does not fit the model.
    let shown: String?

    /// `shown`: a value that does not fit the model, as people read it.
    public init(
      attribute: String, baseValue: AttributeValue, currentValue: AttributeValue,
      shown: String? = nil
    ) {
      self.attribute = attribute
      self.baseValue = baseValue
      self.currentValue = currentValue
      self.shown = shown
    }
  }

  /// 403 not allowed, 404 no such object, 412 a rule was broken or the object was changed
  /// meanwhile, 422 the operation makes no sense, 500 anything else.
  public let code: Int
  /// One sentence for the user of the app.
  public let message: String
  /// The attribute it is about, if it is about one; the first of the conflicts.
  public private(set) var attribute: String?
  /// Every attribute of the change that the business system has otherwise, in the order of the model.
  public let conflicts: [Conflict]
  /// The name of the constraint that was broken, if the business system gives one.
  public private(set) var constraint: String?
  /// What a rule of the business says beside its message. Never a text of the database itself: such
  /// a text may quote values that the user may not see.
  public private(set) var detail: String?
  /// What a rule of the business advises; also never a text of the database itself.
  public private(set) var hint: String?

  public init(
    code: Int, message: String, attribute: String? = nil, baseValue: AttributeValue? = nil,
    currentValue: AttributeValue? = nil, constraint: String? = nil, detail: String? = nil,
    hint: String? = nil
  ) {
    self.code = code
    self.message = message
    self.attribute = attribute
    self.constraint = constraint
    self.detail = detail
    self.hint = hint
    if let attribute, let baseValue, let currentValue {
      conflicts = [
        Conflict(attribute: attribute, baseValue: baseValue, currentValue: currentValue)
      ]
    } else {
      conflicts = []
    }
  }

  /// The change was based on other values than the business system has. Nil where there is none.
  public init?(conflicts: [Conflict]) {
    guard let first = conflicts.first else { return nil }
    code = 412
    message = conflicts.map(\.sentence).joined(separator: " ")
    attribute = first.attribute
    self.conflicts = conflicts
    constraint = nil
    detail = nil
    hint = nil
  }

  /// The same refusal, with all its conflicts and more words of the business system; nil leaves a word
  /// as it is.
  public func adding(
    attribute: String? = nil, constraint: String? = nil, detail: String? = nil, hint: String? = nil
  ) -> Refusal {
    var refusal = self
    refusal.attribute = attribute ?? refusal.attribute
    refusal.constraint = constraint ?? refusal.constraint
    refusal.detail = detail ?? refusal.detail
    refusal.hint = hint ?? refusal.hint
    return refusal
  }

  /// For the first of the conflicts: what the change was based on, what the business system has.
  public var baseValue: AttributeValue? { conflicts.first?.baseValue }
  public var currentValue: AttributeValue? { conflicts.first?.currentValue }
}

extension Refusal.Conflict {
  /// For the user of the app.
  public var sentence: String {
    "\(attribute) was changed meanwhile: this change was based on \(baseValue.shown), "
      + "the business system has \(shown ?? currentValue.shown)."
  }
}
