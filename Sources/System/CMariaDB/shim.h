// libmariadb: the client's side of the protocol of MariaDB and MySQL.
#include <mariadb/mysql.h>
#include <mariadb/errmsg.h>
