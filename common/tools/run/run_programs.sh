#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs chapter programs one after the other. The exit status of one program becomes this script's. Of several
# all are run, and the status says whether every one succeeded.
#
#   run_programs.sh BUILD_FOLDER 'CHAPTER...' [OPTION...]
set -u
. "$(dirname "$0")/terminal.sh"

folder=$1
# shellcheck disable=SC2206  # chapter names are words
chapters=($2)
shift 2

if [ ${#chapters[@]} -eq 1 ]; then
  echo
  exec "$folder/${chapters[0]}" "$@"
fi

failed=()
for chapter in "${chapters[@]}"; do
  printf '\n%s%s%s\n' "$bold" "$chapter" "$plain"
  "$folder/$chapter" "$@"
  status=$?
  if [ $status -eq 77 ]; then
    # No usable GPU: the next chapter will find none either.
    exit $status
  elif [ $status -ne 0 ]; then
    failed+=("$chapter (status $status$(s=$(signal_in $status) && echo "${s:+, $s}"))")
  fi
done
echo
if [ ${#failed[@]} -gt 0 ]; then
  printf '%sfailed:%s %s\n' "$red" "$plain" "${failed[*]}"
  exit 1
fi
echo "${green}all ${#chapters[@]} chapters ran, all results right${plain}"
