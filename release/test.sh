#!/bin/bash
# Builds what is committed twice for this machine's architecture, in two clones, and compares the
# bytes; then builds it for all, and installs it: see
# image-test.sh, formats-test.sh, machine-test.sh and bare-test.sh. Usage: test.sh [DIR]
# DIR (default: a temporary directory, removed at the end) keeps what was fetched for the next run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
arch=$(dpkg --print-architecture)
if [ $# -gt 0 ]; then
	mkdir -p "$1"
	dir=$(realpath "$1")
else
	dir=$(mktemp -d)
	trap 'rm -rf --one-file-system "$dir"' EXIT
fi
rm -f "$dir/key"
openssl genpkey -algorithm ed25519 -out "$dir/key"
commit=$(git -C "$here" rev-parse HEAD)
# build VERSION NAME [FLAG...]: into NAME, in a clone of its own
build() {
	version=$1 name=$2
	shift 2
	rm -rf "$dir/clone-$name"
	git clone -q --no-checkout "$here/.." "$dir/clone-$name"
	git -C "$dir/clone-$name" checkout -q --detach "$commit"
	(cd "$dir/clone-$name/release" && go run . -version "$version" -key "$dir/key" -debian "$dir/debian" -out "$dir/$name" "$@")
	rm -rf "$dir/clone-$name"
}
rm -rf --one-file-system "$dir/debian" # both have the same packages of Debian
build 0.0.1-test.1 old -arch "$arch"
build 0.0.1-test.1 again -arch "$arch"
diff -r "$dir/old" "$dir/again" || { echo 'the same commit gave other bytes' >&2; exit 1; }
rm -rf "$dir/again"
build 0.0.1-test.2 new
rm -rf --one-file-system "$dir/debian"
(
	cd "$dir/new"
	openssl pkey -in "$dir/key" -pubout -out deployster.pub
	sh -euxc "$(awk '/^## Verify/ { on = 1 } on && /^```$/ { exit } code { print } on && /^```sh$/ { code = 1 }' "$here/../docs/install.md")"
)
# The clients for darwin: nothing here can start them.
for client in amd64 arm64; do
	rm -rf "$dir/darwin"
	mkdir "$dir/darwin"
	tar -xzf "$dir/new/deployster_0.0.1-test.2_darwin_$client.tar.gz" --strip-components=1 -C "$dir/darwin"
	go version -m "$dir/darwin/bin/deployster" | awk -v "arch=$client" '$2 == "GOOS=darwin" { os = 1 } $2 == "GOARCH=" arch { machine = 1 } END { exit !(os && machine) }'
	(cd "$dir/darwin/lib/deployster" && sha256sum --check --quiet ./*.sha256)
done
rm -rf "$dir/darwin"
# The commands of the README, with the package of the older version.
rm -rf "$dir/inside"
mkdir "$dir/inside"
cp "$here/inside.sh" "$(command -v busybox)" "$dir/old/"*.deb "$dir/inside/"
mv "$dir/inside/"*.deb "$dir/inside/deployster_old_$arch.deb"
cp "$dir/new/"*"_$arch.deb" "$dir/inside/new.deb"
awk '/^```sh$/ { on = 1; next } on && /^```$/ { exit } on { print }' "$here/../README.md" >"$dir/inside/readme.sh"
(cd "$here/.." && go run ./internal/testkit/machines/booted 1 "$here/machine-test.sh" "$dir/inside")
"$here/bare-test.sh" "$dir/bare" "$dir/inside"
"$here/image-test.sh" "$dir/image" "$dir/new/"*_ci-image.tar 0.0.1-test.2
"$here/formats-test.sh" "$dir/formats" "$dir/old" "$dir/new"
