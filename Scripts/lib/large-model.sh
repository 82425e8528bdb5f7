# shellcheck shell=bash
# A model of 100 entities of 50 attributes with everything that a model can say: every type,
# complex types and lists, keys of every origin, parts, one to one, a step that performs, partitions,
# parameters and personalization keys, client-only attributes, full-text search and object queries.

# large_model: writes it.
large_model() {
  awk '
    function key_type(e) { return e % 5 == 0 ? "string" : e % 10 == 7 ? key_type(e - 1) : "long" }
    function attribute(name, type, more) {
      printf "%s\n  { \"name\": \"%s\", \"type\": \"%s\"%s }", (count++ ? "," : ""), name, type, more
    }
    BEGIN {
      split("string long decimal date dateTime boolean double int time integer binary short byte float", \
        type, " ")
      nullable = ", \"nullable\": true"
      print "{ \"name\": \"Large\", \"version\": \"1.0\", \"entities\": ["
      for (e = 1; e <= 100; e++) {
        performs = e == 90
        is_part = e > 1 && e % 4 == 0
        is_one = e % 10 == 7
        count = 0
        printf "%s{ \"name\": \"Entity%d\", \"attributes\": [", (e > 1 ? ",\n" : ""), e
        attribute("key", e % 5 == 0 ? "string" : "long", "")
        attribute("parent", e > 1 ? key_type(e - 1) : "long", is_part || is_one ? "" : nullable)
        attribute("region", "string", "")
        for (a = 4; a <= 43; a++)
          attribute("attribute" a, type[a % 14 + 1], \
            (a % 3 == 0 ? nullable : "") (a == 14 ? ", \"fullText\": true" : ""))
        attribute("tags", "list", ", \"of\": \"string\", \"default\": []")
        attribute("place", "complex", ", \"of\": \"Place\"" nullable)
        attribute("places", "list", ", \"of\": \"Place\"" nullable)
        attribute("status", "string", ", \"default\": \"new\"")
        attribute("letter", performs ? "string" : "bigString", nullable)
        attribute("photo", performs ? "binary" : "bigBinary", nullable)
        attribute("draft", "string", nullable ", \"clientOnly\": true")
        printf "\n ], \"key\": [\"%s\"]", is_one ? "parent" : "key"
        if (e % 5 == 0) printf ", \"keyOrigin\": \"device\""
        else if (!is_one && e % 5 != 1) printf ", \"keyOrigin\": \"businessSystem\""
        if (e > 1)
          printf ", \"relationships\": [{ \"name\": \"owner\", \"target\": \"Entity%d\", \"attributes\": [\"parent\"], \"inverse\": \"parts%d\"%s }]", \
            e - 1, e, (is_part ? ", \"composite\": true" : "")
        if (e % 10 == 3)
          printf ", \"partition\": { \"columns\": { \"region\": \"parameter:region within claim:regions\" } }"
        if (performs) printf ", \"performs\": [\"UPDATE Entity1 SET status = :status WHERE region = :region\"]"
        printf ", \"queries\": ["
        printf "{ \"name\": \"findByStatus\", \"parameters\": [{ \"name\": \"status\", \"type\": \"string\" }], \"where\": \"status = :status\" },"
        printf "{ \"name\": \"findDear\", \"parameters\": [{ \"name\": \"least\", \"type\": \"decimal\" }], \"where\": \"attribute16 > :least\", \"orderBy\": \"attribute16 DESC\" },"
        printf "{ \"name\": \"findNext\", \"where\": \"attribute17 IS NOT NULL\", \"orderBy\": \"attribute17\", \"single\": true }"
        printf "] }"
      }
      print "], \"types\": [{ \"name\": \"Place\", \"attributes\": [{ \"name\": \"street\", \"type\": \"string\" }, { \"name\": \"zip\", \"type\": \"string\", \"nullable\": true }] }],"
      print "\"parameters\": ["
      print "{ \"name\": \"region\", \"type\": \"string\", \"default\": \"South\" },"
      print "{ \"name\": \"limit\", \"type\": \"decimal\", \"kind\": \"server\", \"default\": \"1.50\" },"
      print "{ \"name\": \"since\", \"type\": \"date\", \"kind\": \"client\" },"
      print "{ \"name\": \"isNight\", \"type\": \"boolean\", \"kind\": \"session\", \"default\": true }"
      print "] }"
    }'
}
