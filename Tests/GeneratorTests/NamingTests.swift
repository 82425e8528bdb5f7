import FerryGenerator
import FerryModel
import Testing

struct NamingTests {
  @Test(
    "A table's name becomes the name of a type",
    arguments: [
      ("Order Details", "OrderDetails"), ("order_details", "OrderDetails"), ("orders", "Orders"),
      ("CUSTOMER_ORDERS", "CustomerOrders"), ("CUSTOMERS", "Customers"), ("URL", "URL"),
      ("customer_id", "CustomerID"), ("42 answers", "N42Answers"), ("it's", "Its"),
      ("🍎", "RedApple"), ("Größen", "Größen"), ("a-b.c", "ABC"), ("__x__", "X"),
      ("❤️", "HeavyBlackHeartVariationSelector16"),
    ])
  func types(_ table: String, _ name: String) {
    #expect(Naming.typeName(table, fallback: "?") == name)
    #expect(ReservedName.isIdentifier(name))
  }

  @Test(
    "A column's name becomes the name of a property",
    arguments: [
      ("EmployeeID", "employeeID"), ("ShipVia", "shipVia"), ("URL", "url"), ("XMLData", "xmlData"),
      ("employee_id", "employeeID"), ("EMAIL_ADDRESS", "emailAddress"), ("ID", "id"),
      ("2nd", "n2nd"), ("e-mail", "eMail"), ("Straße & Nr.", "straßeNr"), ("a b", "aB"),
      (" ", "space"), ("🔑", "key"),
    ])
  func members(_ column: String, _ name: String) {
    #expect(Naming.memberName(column, fallback: "?") == name)
    #expect(ReservedName.isIdentifier(name))
  }

  @Test("Only a name of which nothing can be said takes the fallback")
  func fallback() {
    #expect(Naming.memberName("", fallback: "column3") == "column3")
  }

  @Test(
    "Many objects have a plural name",
    arguments: [
      ("booking", "bookings"), ("country", "countries"), ("day", "days"), ("box", "boxes"),
      ("branch", "branches"), ("address", "addresses"), ("status", "statuses"),
      ("orders", "orders"), ("orderLine", "orderLines"), ("visitList", "visitLists"),
    ])
  func plural(_ one: String, _ many: String) {
    #expect(Naming.plural(one) == many)
  }
}
