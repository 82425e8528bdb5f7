# shellcheck shell=bash
# What Ferry needs of the system, found by looking at files: no network, no package manager.

# What is looked for, the package of Debian that brings it, and what it is for.
needs="
header:sqlite3.h              libsqlite3-dev        local databases
header:openssl/evp.h          libssl-dev            hashes and signatures
header:zlib.h                 zlib1g-dev            compressed frames
header:curl/curl.h            libcurl4-openssl-dev  the device's HTTP client
header:microhttpd.h           libmicrohttpd-dev     the server's sockets
header:argon2.h               libargon2-dev         password hashes
header:postgresql/libpq-fe.h  libpq-dev             business databases on PostgreSQL
postgres:                     postgresql            tests with a server of PostgreSQL
header:mariadb/mysql.h        libmariadb-dev        business databases on MariaDB and MySQL
program:mariadbd              mariadb-server        tests with a server of MariaDB
header:libxml2/libxml/tree.h  libxml2-dev           OData payloads in XML
program:sqlite3               sqlite3               tests that look into databases from outside
program:nginx                 nginx-light           tests through a proxy
program:haproxy               haproxy               tests of several nodes behind a proxy
program:openssl               openssl               a test's own authority
program:slapd                 slapd                 logins at a directory (Scripts/check security)
program:nft               nftables              tests that lose packets
program:ip                iproute2              a network of their own for these tests
program:mkfs.ext4         e2fsprogs             tests with a disk that stands still
program:python3               python3               sample databases and small tools of the tests
program:pip3                  python3-pip           the OData libraries that ours is compared with
"

needed_swift="6.2"

has_header() {
  local folder
  for folder in /usr/include "/usr/include/$(uname -m)-linux-gnu" /usr/local/include; do
    [ -e "$folder/$1" ] && return 0
  done
  return 1
}

has_program() { command -v "$1" > /dev/null || [ -x "/usr/sbin/$1" ]; }

# Prints one line for each need that is not met: package, then what it is for.
missing_packages() {
  local what package purpose
  while read -r what package purpose; do
    case "$what" in
      header:*) has_header "${what#header:}" || echo "$package $purpose" ;;
      program:*) has_program "${what#program:}" || echo "$package $purpose" ;;
      # Debian keeps the server's programs beside each other by version, on no path.
      postgres:) compgen -G "/usr/lib/postgresql/*/bin/initdb" > /dev/null || has_program initdb ||
        echo "$package $purpose" ;;
    esac
  done <<< "$needs"
}

# excuse NEED: why a test may have gone without a disk or network of its own here, in words; nothing
# where it could have had one. The needs are those of Tests/WayTests/Place.swift.
excuse() {
  local folder network="ferry-probe-$$"
  if [ "$(id -u)" -ne 0 ]; then
    echo "only root mounts disks and makes networks"
    return
  fi
  if [ -n "$(missing_packages)" ]; then return; fi
  folder="$(mktemp -d "${TMPDIR:-/tmp}/ferry-probe.XXXXXX")"
  case "$1" in
    memoryDisk)
      mount -t tmpfs -o size=1m ferry-probe "$folder" 2> /dev/null && umount "$folder" ||
        echo "this system lets root mount no tmpfs"
      ;;
    fileDisk)
      truncate -s 8M "$folder/image"
      mkdir "$folder/disk"
      mkfs.ext4 -q -F "$folder/image" && mount -o loop "$folder/image" "$folder/disk" 2> /dev/null &&
        umount "$folder/disk" || echo "this system lets root mount no file"
      ;;
    network)
      ip netns add "$network" 2> /dev/null && ip netns exec "$network" nft list ruleset > /dev/null 2>&1 ||
        echo "this system lets root make no network namespace with nftables"
      ip netns delete "$network" 2> /dev/null || true
      ;;
  esac
  rm -rf "$folder"
}

# Says what is wrong with the toolchain, or nothing.
swift_problem() {
  local version
  if ! command -v swift > /dev/null; then
    echo "there is no swift on the PATH; install Swift $needed_swift or later (swift.org/install)"
    return
  fi
  version="$(swift --version 2> /dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -1)"
  if [ -z "$version" ]; then
    echo "swift --version tells no version; is the toolchain whole?"
  elif [ "$(printf '%s\n' "$needed_swift" "$version" | sort -V | head -1)" != "$needed_swift" ]; then
    echo "swift is $version; Ferry needs $needed_swift or later (swift.org/install)"
  fi
}
