#!/bin/bash
# Builds a release of this checkout twice, for this machine's architecture, and compares the
# bytes; then installs it: see install-test.sh. Usage: test.sh [DIR]
# DIR (default: a temporary directory, removed at the end) keeps the Debian for the next run.
set -eu
cd "$(dirname "$0")"
arch=$(dpkg --print-architecture)
if [ $# -gt 0 ]; then
	mkdir -p "$1"
	dir=$(realpath "$1")
else
	dir=$(mktemp -d)
	trap 'rm -rf --one-file-system "$dir"' EXIT
fi
openssl genpkey -algorithm ed25519 -out "$dir/key"
openssl pkey -in "$dir/key" -pubout -out "$dir/deployster.pub"
build() { go run . -version "$1" -arch "$arch" -key "$dir/key" -out "$dir/$2"; }
build 0.0.1-test.1 old
build 0.0.1-test.2 new
build 0.0.1-test.2 again
diff -r "$dir/new" "$dir/again" || { echo 'the same commit gave other bytes' >&2; exit 1; }
(
	cd "$dir/new"
	openssl pkeyutl -verify -pubin -inkey ../deployster.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
	sha256sum --quiet --check SHA256SUMS
)
./install-test.sh "$dir" "$dir/old/"*.deb "$dir/new/"*.deb
