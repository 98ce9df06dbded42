#!/usr/bin/env bash
# Runs the check with the inputs that are in the environment. A shell that
# dropped the names with a hyphen would run it without its gate: better not
# at all. report-path always has a value.
set -euo pipefail

if ! env | grep -q '^INPUT_REPORT-PATH='; then
  echo "::error title=mcpeval was not run::this bash does not pass on environment variables with a hyphen in their name, or report-path is empty"
  printf '%s\n' passed=null complete=false exit-code=3 candidates=0 defects=0 report= sarif= >> "$GITHUB_OUTPUT"
  exit 3
fi
# exec: no shell stays behind with the inputs in its environment.
exec "$MCPEVAL_BINARY" action
