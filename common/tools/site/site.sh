#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the notes, labs, figures and decks into a static site in build/site/, shows it, checks it.
#
#   site.sh build BASE      builds what is out of date, and looks at it in Chromium when that is here: links, images, search,
#                           widths, contrast
#   site.sh serve BASE PORT
# With SHARE=k/n in the environment, of the pages that show a file it looks at the k-th of n parts.
# BASE is the path under which the site will stand, /cuda/ for https://example.org/cuda/.
# Building needs Node.js. What that needs comes from common/tools/site/package-lock.json, and for looking from
# slides/package-lock.json; it is installed again when that changes.
set -u
tools=$(dirname "$(dirname "$0")")
needs="the site needs"
# shellcheck source=../setup/node.sh
. "$tools/setup/node.sh"

packages=build/site-src
sources=$packages/pages
out=build/site

verb=$1 base=$2 port=${3:-8000}
if [ -n "${SHARE:-}" ] && [ -z "$(seq 9999 | "$tools/run/part_of.sh" "$SHARE")" ]; then
  stop 2 "SHARE=$SHARE: expected k/n, the k-th of n parts, as in 1/3"
fi
case $base in
  *[!A-Za-z0-9._~/-]* | *//* | *./* | [!/]* | *[!/]) stop 2 "BASE=$base: expected a path such as /cuda/, with a slash at both ends" ;;
esac
if ! [[ $port =~ ^[0-9]{1,5}$ ]] || [ "$port" -lt 1 ] || [ "$port" -gt 65535 ]; then stop 2 "PORT=$port: expected a number from 1 to 65535"; fi

# ---- what it needs -------------------------------------------------------------------------------

need_node
mkdir -p "$packages"
log=$(mktemp "${TMPDIR:-/tmp}/site.XXXXXX") || exit 2
trap 'rm -f "$log"' EXIT

need_packages "$tools/site" "$packages" "$log"
# Node.js looks for packages from where a script lies: the scripts go to the packages.
rm -rf "$packages/.vitepress/theme" "$packages/explore"
mkdir -p "$packages/.vitepress/theme"
cp -R "$tools"/site/*.mjs "$tools/site/explore" "$packages/"
mv "$packages/config.mjs" "$packages/.vitepress/"
cp "$tools"/site/theme/* "$packages/.vitepress/theme/"

# ---- build ---------------------------------------------------------------------------------------

# build/site.built says what the site was built from: "HASH N pages, ...". While that stays the
# same there is nothing to do.
build() {
  local prepared
  prepared=$(node "$packages/prepare.mjs" . "$sources" "$base" "$tools/site") || exit 1
  if [ -f "$out/index.html" ] && [ "$prepared" = "$(cat "$out.built" 2>/dev/null)" ]; then
    return
  fi
  rm -rf "$out.partial" "$out.built" "$out.checked"
  (cd "$packages" && NO_COLOR=1 node_modules/.bin/vitepress build .) >"$log" 2>&1 </dev/null ||
    { grep -v '^ *at ' "$log" | tail -15 >&2; stop 1 "VitePress could not build the site"; }
  rm -rf "$out"
  mv "$out.partial" "$out"
  echo "$prepared" >"$out.built"
  echo "  site  $out/: ${prepared#* }"
}

# Opens the site in Chromium, which may be missing unless CHROME_PATH says where it is.
look() {
  local chromium
  if [ -n "${CHROME_PATH:-}" ]; then
    need_chromium "looking at the site needs"
  elif ! chromium=$("$tools/setup/chromium.sh"); then
    not_looked_at
    return
  fi
  need_packages slides build/slides/packages "$log"
  CHROME_PATH=$chromium node "$packages/check.mjs" build/slides/packages "$out" "$base" || exit 1
  [ -n "${SHARE:-}" ] || cp "$out.built" "$out.checked"
}

# Decks are built apart, and a site can do without: the last line says so.
missing_decks() {
  local deck missing=0
  for deck in slides/[0-9][0-9]_*.md; do
    [ ! -f "$deck" ] || [ -f "build/slides/$(basename "$deck" .md).html" ] || missing=$((missing + 1))
  done
  [ "$missing" -eq 0 ] || echo "  not in it: $missing of the decks; make slides builds them, make site takes them in"
}

case $verb in
  build)
    build
    if cmp -s "$out.built" "$out.checked"; then echo "  site  $out/ is up to date"; else look; fi
    missing_decks
    ;;
  serve)
    build
    rm -f "$log"
    exec node "$packages/serve.mjs" "$out" "$base" "$port"
    ;;
esac
