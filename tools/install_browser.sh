#!/bin/sh
# The browser tests need Chromium and Firefox; as root on Debian they can be installed, elsewhere say what is missing.
# usage: install_browser.sh chromium|firefox-esr
set -eu
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$1" >/dev/null
else
  echo "The browser tests need $1: install it so that '$1' is on the PATH." >&2
  exit 1
fi
