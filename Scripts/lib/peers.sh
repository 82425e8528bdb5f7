# shellcheck shell=bash
# The OData libraries that the tests compare ours with; they stand beside the build, not in the system.

peers="pyslet==0.7.20170805 pyodata==1.12.1 odatapy==5.3.0 httpx==0.28.1"

install_peers() {
  local folder="$root/.build/peers"
  if [ -d "$folder/pyslet" ] && [ -d "$folder/pyodata" ] \
    && [ -d "$folder/odatapy" ]; then return 0; fi
  # shellcheck disable=SC2086
  if ! python3 -m pip install --quiet --disable-pip-version-check --target "$folder" $peers; then
    complain "The libraries could not be fetched; their tests will fail. To install them, run:"
    complain "  python3 -m pip install --target .build/peers $peers"
  fi
}
