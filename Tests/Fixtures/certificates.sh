#!/bin/sh
# Makes certificates of a test in the folder where it runs: an authority, ca.pem, and for each NAME=SUBJECT
# one that it has signed, NAME.pem with its key NAME.key, for 127.0.0.1 and two days.
#
#   sh certificates.sh server=/CN=service client=/CN=alice
set -e
key="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
openssl req -x509 $key -keyout ca.key -out ca.pem -subj /CN=Authority -days 2
echo subjectAltName=IP:127.0.0.1 > names
for pair in "$@"; do
  name="${pair%%=*}"
  openssl req $key -keyout "$name.key" -out request -subj "${pair#*=}"
  openssl x509 -req -in request -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out "$name.pem" \
    -extfile names
done
