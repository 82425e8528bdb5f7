// libpq: the client's side of PostgreSQL's protocol.
#include <postgresql/libpq-fe.h>
