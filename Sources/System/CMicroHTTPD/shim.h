#pragma once
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Variadic functions do not import into Swift; each gets a wrapper that fixes its arguments.

typedef void *(*ferry_mhd_target)(void *context, const char *target, struct MHD_Connection *);

/// What a server shows in its handshakes, in the form of GnuTLS.
struct ferry_tls {
  gnutls_pcert_st *chain;
  unsigned int count;
  gnutls_privkey_t key;
};

static inline void ferry_tls_free(struct ferry_tls *tls) {
  if (!tls) return;
  for (unsigned int i = 0; i < tls->count; i++) gnutls_pcert_deinit(&tls->chain[i]);
  free(tls->chain);
  if (tls->key) gnutls_privkey_deinit(tls->key);
  free(tls);
}

/// NULL where certificates or key, both PEM, cannot be read, or do not belong together.
static inline struct ferry_tls *ferry_tls_make(const char *certificates, const char *key) {
  gnutls_datum_t chain = {(unsigned char *)certificates, (unsigned int)strlen(certificates)};
  gnutls_datum_t secret = {(unsigned char *)key, (unsigned int)strlen(key)};
  gnutls_certificate_credentials_t pair;
  if (gnutls_certificate_allocate_credentials(&pair) < 0) return NULL;
  int fits = gnutls_certificate_set_x509_key_mem(pair, &chain, &secret, GNUTLS_X509_FMT_PEM) >= 0;
  gnutls_certificate_free_credentials(pair);
  if (!fits) return NULL;
  gnutls_x509_crt_t *list = NULL;
  unsigned int count = 0;
  if (gnutls_x509_crt_list_import2(&list, &count, &chain, GNUTLS_X509_FMT_PEM, 0) < 0) return NULL;
  struct ferry_tls *tls = calloc(1, sizeof *tls);
  if (tls) tls->chain = calloc(count, sizeof *tls->chain);
  for (unsigned int i = 0; i < count; i++) {
    if (tls && tls->chain && gnutls_pcert_import_x509(&tls->chain[i], list[i], 0) >= 0 &&
        tls->count == i)
      tls->count = i + 1;
    gnutls_x509_crt_deinit(list[i]);
  }
  gnutls_free(list);
  if (tls && tls->count == count && gnutls_privkey_init(&tls->key) >= 0 &&
      gnutls_privkey_import_x509_raw(tls->key, &secret, GNUTLS_X509_FMT_PEM, NULL, 0) >= 0)
    return tls;
  ferry_tls_free(tls);
  return NULL;
}

/// The certificate that the client has shown, DER; nobody has judged it. NULL: none.
static inline const unsigned char *ferry_mhd_client_certificate(
    struct MHD_Connection *connection, size_t *size) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  if (!info || !info->tls_session) return NULL;
  unsigned int count = 0;
  const gnutls_datum_t *list =
      gnutls_certificate_get_peers((gnutls_session_t)info->tls_session, &count);
  if (!list || count == 0) return NULL;
  *size = list[0].size;
  return list[0].data;
}

/// A daemon without threads that accepts on a socket we opened, or, without one (-1), takes only what
/// is added to it. It is stepped by MHD_run. With `retrieve` it speaks TLS 1.2 and 1.3, and shows what
/// that gives. `authorities`, PEM: those whose certificates clients are asked for; NULL: none.
static inline struct MHD_Daemon *ferry_mhd_start(
    int listener, unsigned int connections, size_t pool_bytes,
    gnutls_certificate_retrieve_function2 *retrieve, const char *authorities, void *context,
    MHD_AccessHandlerCallback access, ferry_mhd_target target,
    MHD_NotifyConnectionCallback connection, MHD_RequestCompletedCallback completed) {
  struct MHD_OptionItem tls[] = {
      {MHD_OPTION_HTTPS_PRIORITIES, 0,
       (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SAFE_RENEGOTIATION"},
      {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)retrieve},
      {authorities ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, (void *)authorities},
      {MHD_OPTION_END, 0, NULL}};
  struct MHD_OptionItem socket[] = {
      {listener >= 0 ? MHD_OPTION_LISTEN_SOCKET : MHD_OPTION_END, listener, NULL},
      {MHD_OPTION_END, 0, NULL}};
  struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (retrieve ? MHD_USE_TLS : 0) |
          (listener >= 0 ? 0 : MHD_USE_NO_LISTEN_SOCKET),
      0, NULL, NULL, access, context,
      MHD_OPTION_CONNECTION_LIMIT, connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, pool_bytes,
      MHD_OPTION_CONNECTION_TIMEOUT, 0u,
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
      MHD_OPTION_URI_LOG_CALLBACK, target, context,
      MHD_OPTION_NOTIFY_CONNECTION, connection, context,
      MHD_OPTION_NOTIFY_COMPLETED, completed, context,
      MHD_OPTION_ARRAY, retrieve ? tls : none,
      MHD_OPTION_ARRAY, socket,
      MHD_OPTION_END);
}

/// No chunks, and the connection closes behind it.
static inline void ferry_mhd_end_by_close(struct MHD_Response *response) {
  MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

static inline int ferry_mhd_epoll(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info ? info->epoll_fd : -1;
}

static inline unsigned int ferry_mhd_connections(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info =
      MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
  return info ? info->num_connections : 0;
}

static inline int ferry_mhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *ferry_mhd_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

static inline size_t ferry_mhd_head_bytes(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

struct ferry_mhd_lines {
  const char *end;
  int are_whole;
};

static inline enum MHD_Result ferry_mhd_line(
    void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
  struct ferry_mhd_lines *lines = (struct ferry_mhd_lines *)context;
  (void)kind;
  if (!name || !value || (uintptr_t)name - (uintptr_t)lines->end != 2) lines->are_whole = 0;
  if (value) lines->end = value + strlen(value);
  return MHD_YES;
}

/// Whether each line of the head ends with CRLF, is not folded and has a name.
///
/// The library also reads lines that end with LF, folds lines, and drops fields without a name. It
/// keeps the head where it read it: so two bytes, CR and LF, are between the end of a value and the next
/// name. Versions after 0.9.77 are stricter by themselves, and may keep the head in another way.
static inline int ferry_mhd_has_whole_lines(
    struct MHD_Connection *connection, const char *method, const char *version) {
  if (strncmp(MHD_get_version(), "0.9.7", 5) != 0) return 1;
  if (!method || !version) return 0;
  struct ferry_mhd_lines lines = {version + strlen(version), 1};
  MHD_get_connection_values(connection, MHD_HEADER_KIND, ferry_mhd_line, &lines);
  size_t size = ferry_mhd_head_bytes(connection);
  return lines.are_whole && (uintptr_t)method + size - (uintptr_t)lines.end == 4;
}
