#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the decks of slides/ into build/slides/, and looks at every slide of the HTML in Chromium where that is.
#
#   slides.sh html|pdf|png|all [NAME]     one deck, slides/NAME.md, or all of them
# Building HTML needs Node.js; the rest needs Chromium as well. What Node.js needs comes from
# slides/package-lock.json, and is installed again when that changes.
set -u
tools=$(dirname "$(dirname "$0")")
needs="slides need"
# shellcheck source=../setup/node.sh
. "$tools/setup/node.sh"

out=build/slides
packages=$out/packages

format=$1
name=${2:-}
case $format in
  html | pdf | png) formats=$format ;;
  all) formats="html pdf png" ;;
  *) stop 2 "FORMAT=$format: no such format; there are: html pdf png all" ;;
esac

decks=()
for deck in slides/[0-9][0-9]_*.md; do
  [ -f "$deck" ] || continue
  there_are=${there_are:-}${there_are:+ }$(basename "$deck" .md)
  if [ -z "$name" ] || [ "$deck" = "slides/$name.md" ]; then decks+=("$deck"); fi
done
[ ${#decks[@]} -gt 0 ] || stop 2 "slides/$name.md: no such deck; there are: ${there_are:-none}"

what=${decks[0]}
[ ${#decks[@]} -eq 1 ] || what="slides/: ${#decks[@]} decks"

# ---- what it needs -------------------------------------------------------------------------------

need_node
if [ "$format" = html ]; then chromium=$("$tools/setup/chromium.sh") || chromium=; else need_chromium "slides as $format need"; fi
export CHROME_PATH=$chromium

mkdir -p "$packages"
scratch=$(mktemp -d "$out/new.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT

need_packages slides "$packages" "$scratch/log"

# ---- build ---------------------------------------------------------------------------------------

node "$tools/slides/prepare.mjs" "$scratch/src" "${decks[@]}" || exit 1

# marp FORMAT ARGUMENT...: one process for all decks. Their language is English, not the terminal's.
marp() {
  local format=$1
  shift
  printf '  %-5s %s\n' "$format" "$what"
  env LC_ALL=en "$packages/node_modules/.bin/marp" --no-config-file --no-stdin \
    --engine "$tools/slides/engine.mjs" --theme-set slides/theme.css --html \
    --browser chrome --browser-timeout 120 \
    --input-dir "$scratch/src" --output "$scratch/$format" "$@" >"$scratch/log" 2>&1 ||
    { grep -A 3 ERROR "$scratch/log" | cut -c 1-200 >&2; stop 1 "Marp could not build $format"; }
}

for format in $formats; do
  case $format in
    html) marp html ;;
    pdf) marp pdf --pdf --pdf-outlines --parallel 2 ;;
    png) marp png --images png --no-parallel ;; # a page in the background is not painted: Chromium would wait
  esac
  for deck in "${decks[@]}"; do
    name=$(basename "$deck" .md)
    if [ "$format" = png ]; then
      mkdir "$scratch/$name"
      for image in "$scratch/png/$name".[0-9]*.png; do mv "$image" "$scratch/$name/${image##*"$name".}"; done
      rm -rf "${out:?}/$name"
      mv "$scratch/$name" "$out/$name"
    else
      mv "$scratch/$format/$name.$format" "$out/$name.$format"
    fi
  done
done

# ---- look ----------------------------------------------------------------------------------------

case " $formats " in *" html "*) ;; *) exit 0 ;; esac
if [ -z "$chromium" ]; then
  not_looked_at
  exit 0
fi
pages=()
for deck in "${decks[@]}"; do pages+=("$out/$(basename "$deck" .md).html"); done
node "$tools/slides/check.mjs" "$packages" "${pages[@]}"
