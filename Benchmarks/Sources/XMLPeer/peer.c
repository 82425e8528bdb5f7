#include "peer.h"
#include "../../../Sources/System/CLibXML2/shim.h"

typedef struct {
  long elements;
  long bytes;
} tally;

static void start(void *context, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri,
                  int spaces, const xmlChar **names, int count, int standard,
                  const xmlChar **attributes) {
  ((tally *)context)->elements += 1;
}

static void end(void *context, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri) {}

static void text(void *context, const xmlChar *bytes, int count) {
  ((tally *)context)->bytes += count;
}

long xml_peer_elements(const char *bytes, size_t count) {
  xmlSAXHandler handler = {0};
  handler.initialized = 0xDEEDBEAF;
  handler.startElementNs = start;
  handler.endElementNs = end;
  handler.characters = text;
  handler.cdataBlock = text;
  tally tally = {0};
  xmlInitParser();
  xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&handler, &tally, 0, 0, 0);
  if (!parser) return -1;
  // The options of the reader that it stands beside.
  xmlCtxtUseOptions(parser, 1 << 11 | 1 << 19 | 1 << 21 | 1 << 1);
  int fault = 0;
  for (size_t place = 0; place < count && !fault;) {
    size_t piece = count - place < 65536 ? count - place : 65536;
    fault = xmlParseChunk(parser, bytes + place, (int)piece, 0);
    place += piece;
  }
  if (!fault) fault = xmlParseChunk(parser, 0, 0, 1);
  xmlFreeParserCtxt(parser);
  return fault ? -1 : tally.elements;
}
