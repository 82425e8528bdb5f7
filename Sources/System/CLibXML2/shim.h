#pragma once
// The few declarations of libxml2 that we use, as its ABI has had them since 2.6. Its own headers
// stand in a folder that only pkg-config knows (/usr/include/libxml2) and that a device's SDK keeps
// elsewhere; declared here, no search path is needed anywhere. A test compiles this file beside the
// real headers, so that a difference cannot go unseen.
#ifndef __XML_PARSER_H__
typedef unsigned char xmlChar;

typedef struct _xmlError {
  int domain;
  int code;
  char *message;
  int level;
  char *file;
  int line;
  char *str1;
  char *str2;
  char *str3;
  int int1;
  int int2;
  void *ctxt;
  void *node;
} xmlError;

typedef struct _xmlSAXHandler {
  void (*internalSubset)(void *, const xmlChar *, const xmlChar *, const xmlChar *);
  void *isStandalone;
  void *hasInternalSubset;
  void *hasExternalSubset;
  void *resolveEntity;
  void *getEntity;
  void *entityDecl;
  void *notationDecl;
  void *attributeDecl;
  void *elementDecl;
  void *unparsedEntityDecl;
  void *setDocumentLocator;
  void *startDocument;
  void *endDocument;
  void *startElement;
  void *endElement;
  void *reference;
  void (*characters)(void *, const xmlChar *, int);
  void (*ignorableWhitespace)(void *, const xmlChar *, int);
  void *processingInstruction;
  void *comment;
  void *warning;
  void *error;
  void *fatalError;
  void *getParameterEntity;
  void (*cdataBlock)(void *, const xmlChar *, int);
  void *externalSubset;
  unsigned int initialized;
  void *_private;
  void (*startElementNs)(void *, const xmlChar *, const xmlChar *, const xmlChar *, int,
                         const xmlChar **, int, int, const xmlChar **);
  void (*endElementNs)(void *, const xmlChar *, const xmlChar *, const xmlChar *);
  void (*serror)(void *, xmlError *);
} xmlSAXHandler;

typedef struct _xmlParserCtxt *xmlParserCtxtPtr;

xmlParserCtxtPtr xmlCreatePushParserCtxt(xmlSAXHandler *sax, void *user_data, const char *chunk,
                                         int size, const char *filename);
int xmlParseChunk(xmlParserCtxtPtr ctxt, const char *chunk, int size, int terminate);
int xmlCtxtUseOptions(xmlParserCtxtPtr ctxt, int options);
void xmlStopParser(xmlParserCtxtPtr ctxt);
void xmlFreeParserCtxt(xmlParserCtxtPtr ctxt);
long xmlByteConsumed(xmlParserCtxtPtr ctxt);
int xmlSAX2GetLineNumber(void *ctx);
int xmlSAX2GetColumnNumber(void *ctx);
void xmlInitParser(void);
#endif
