#!/usr/bin/env bash
# Puts the mcpeval binary of this release into the runner's temporary folder.
#
# A release holds two files beside this one, written when it was made: VERSION,
# and SHA256SUMS with the checksums of its binaries. A binary with another
# checksum is not run. A commit that is no release has neither: there the
# binary is built from source, which needs Go.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# A mirror may serve the binaries; the checksums are those of the release.
releases=${MCPEVAL_RELEASES:-https://github.com/org/mcpeval-guidance/releases/download}

# The action's outputs are there on every way out, this one too.
fail() {
  echo "::error title=mcpeval could not be installed::$1"
  if [[ -n ${GITHUB_OUTPUT:-} ]]; then
    printf '%s\n' passed=null complete=false exit-code=3 candidates=0 defects=0 report= sarif= >> "$GITHUB_OUTPUT"
  fi
  exit 3
}

case ${RUNNER_OS:-} in
  Linux) os=linux ext= ;;
  macOS) os=darwin ext= ;;
  Windows) os=windows ext=.exe ;;
  *) fail "there is no binary for this runner's system" ;;
esac
case ${RUNNER_ARCH:-} in
  X64) arch=amd64 ;;
  ARM64) arch=arm64 ;;
  *) fail "there is no binary for this runner's architecture" ;;
esac

folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/mcpeval.XXXXXX") || fail "the runner's temporary folder cannot be written"
binary=$folder/mcpeval$ext

if [[ -f $here/SHA256SUMS && -f $here/VERSION ]]; then
  asset=mcpeval-$os-$arch$ext
  version=$(< "$here/VERSION")
  expected=$(awk -v asset="$asset" '$2 == asset { print $1 }' "$here/SHA256SUMS")
  [[ $expected =~ ^[0-9a-f]{64}$ ]] || fail "this release has no checksum for $asset"
  curl --fail --silent --show-error --location --retry 3 --output "$binary" "$releases/v$version/$asset" ||
    fail "$asset of release v$version could not be downloaded"
  if command -v sha256sum > /dev/null; then
    actual=$(sha256sum < "$binary")
  else
    actual=$(shasum -a 256 < "$binary")
  fi
  [[ ${actual%% *} == "$expected" ]] || fail "the checksum of $asset is not the one of release v$version: it was not run"
  chmod +x "$binary"
else
  command -v go > /dev/null || fail "this commit is no release, so mcpeval is built, and there is no Go: use a release's tag, or run actions/setup-go before"
  go -C "$here/../../.." build -buildvcs=false -o "$binary" . || fail "this commit is no release, and it could not be built"
fi

echo "binary=$binary" >> "$GITHUB_OUTPUT"
