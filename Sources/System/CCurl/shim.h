#pragma once
#include <curl/curl.h>

// curl_easy_setopt and curl_easy_getinfo are variadic and do not import into Swift.

static inline CURLcode ferry_curl_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ferry_curl_set_size(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ferry_curl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ferry_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

typedef size_t (*ferry_curl_transfer)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ferry_curl_before)(void *context, char *, char *, int, int);

/// All callbacks of one transfer, with one context.
static inline void ferry_curl_set_callbacks(
    CURL *easy, void *context, ferry_curl_transfer header, ferry_curl_transfer write,
    ferry_curl_transfer read, ferry_curl_before before) {
  curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, read);
  curl_easy_setopt(easy, CURLOPT_READDATA, context);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
}

typedef curl_socket_t (*ferry_curl_open)(
    void *context, curlsocktype purpose, struct curl_sockaddr *address);

/// Who opens the socket, once libcurl knows the address.
static inline void ferry_curl_set_open_socket(CURL *easy, void *context, ferry_curl_open open) {
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
}

/// libcurl copies the bytes.
static inline CURLcode ferry_curl_set_blob(
    CURL *easy, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl_easy_setopt(easy, option, &blob);
}

static inline curl_off_t ferry_curl_get_size(CURL *easy, CURLINFO info) {
  curl_off_t value = 0;
  curl_easy_getinfo(easy, info, &value);
  return value;
}

/// The chain that the server showed; null if there is none. It lives as long as the handle.
static inline const struct curl_certinfo *ferry_curl_certificates(CURL *easy) {
  struct curl_certinfo *found = NULL;
  curl_easy_getinfo(easy, CURLINFO_CERTINFO, &found);
  return found;
}
