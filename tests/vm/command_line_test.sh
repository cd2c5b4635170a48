#!/usr/bin/env bash
# The store as it is run on a cluster: served over verbs, used by the commands, in a machine with Soft-RoCE.
set -euo pipefail
folder="$(dirname "${BASH_SOURCE[0]}")"
exec "$folder/vm" --timeout 150 --program "$FALAFEL" "$(<"$folder/command_line.sh")"
