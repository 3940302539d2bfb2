#!/bin/sh
# The browser tests need Chromium; as root on Debian it can be installed, elsewhere say what is missing.
set -eu
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
else
  echo "The browser tests need Chromium: install it so that 'chromium' is on the PATH." >&2
  exit 1
fi
