import FerryConnector
import FerryModel
import FerryPostgreSQL
import FerryPostgreSQLConnector
import Testing

@Suite("What a refusal of PostgreSQL says beside its message")
struct RefusalWordsTests {
  @Test("A broken constraint is named, a column too, and the words of the database stay in it")
  func constraints() throws {
    let stage = try ReplayStage(
      """
      CREATE TABLE shelf (id int8 PRIMARY KEY);
      CREATE TABLE item (
        id int8 PRIMARY KEY REFERENCES shelf, name text NOT NULL CONSTRAINT one_name UNIQUE,
        at timestamp, price numeric, CONSTRAINT cheap_or_dated CHECK (price < 10 OR at IS NOT NULL));
      INSERT INTO shelf VALUES (1), (2);
      INSERT INTO item VALUES (1, 'secret');
      """)
    func refusal(_ id: Int64, _ values: [Int: AttributeValue]) -> Refusal? {
      stage.refusal(stage.connector.perform([stage.create(id, values)]))
    }
    let check = refusal(2, [1: .text("b"), 3: .text("11")])
    #expect(check?.constraint == "cheap_or_dated")
    #expect(check?.attribute == nil, "the rule is about two attributes")
    let unique = refusal(2, [1: .text("secret")])
    #expect(unique?.constraint == "one_name" && unique?.attribute == "name")
    let missing = refusal(2, [:])
    #expect(missing?.constraint == nil && missing?.attribute == "name")
    let shelf = refusal(3, [1: .text("c")])
    #expect(shelf?.constraint == "item_id_fkey" && shelf?.attribute == "id")
    // DETAIL of the database's own errors has the whole row.
    for refusal in [check, unique, missing, shelf] {
      #expect(refusal != nil && refusal?.detail == nil && refusal?.hint == nil)
    }
  }

  @Test(
    "DETAIL, HINT, COLUMN and CONSTRAINT of RAISE are in the refusal, whatever the SQLSTATE",
    arguments: [
      ("", 412), ("check_violation", 412), ("UE001", 412), ("insufficient_privilege", 403),
    ])
  func raised(_ state: String, code: Int) throws {
    let more = state.isEmpty ? "" : ", ERRCODE = '\(state)'"
    let stage = try ReplayStage(
      """
      CREATE TABLE item (id int8 PRIMARY KEY, name text, at timestamp, price numeric);
      CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'Item % is too dear.', NEW.id USING DETAIL = 'The limit is 10.',
          HINT = 'Ask your manager.', COLUMN = 'price', CONSTRAINT = 'dear'\(more);
      END $$;
      CREATE TRIGGER no BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION no();
      """)
    let refusal = stage.refusal(stage.connector.perform([stage.create(1)]))
    #expect(
      refusal
        == Refusal(
          code: code, message: "Item 1 is too dear.", attribute: "price", constraint: "dear",
          detail: "The limit is 10.", hint: "Ask your manager."))
  }
}
