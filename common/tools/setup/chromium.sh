#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the Chromium to use: CHROME_PATH if it is set, else the system's. Prints nothing and fails when
# there is none.
set -u

if [ -n "${CHROME_PATH:-}" ]; then
  [ -x "$CHROME_PATH" ] || exit 1
  echo "$CHROME_PATH"
  exit 0
fi
for name in chromium chromium-browser google-chrome google-chrome-stable \
  "/Applications/Chromium.app/Contents/MacOS/Chromium" \
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
  command -v "$name" 2>/dev/null && exit 0
done
exit 1
