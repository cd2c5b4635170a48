#!/usr/bin/env bash
# The store as it runs on a cluster: served over verbs and used from the command line, in a machine
# with Soft-RoCE.
set -euo pipefail
folder="$(dirname "${BASH_SOURCE[0]}")"
exec "$folder/vm" --timeout 150 --program "$FALAFEL" "$(<"$folder/command_line.sh")"
