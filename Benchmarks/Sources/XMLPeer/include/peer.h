#pragma once
#include <stddef.h>

// Pushes a document through libxml2's SAX2 parser in pieces of 64 KB, with callbacks that only
// count. Returns the number of elements; -1 when the document is not well-formed.
long xml_peer_elements(const char *bytes, size_t count);
