#!/bin/sh
# The main job from beginning to end, on this machine and without a network:
# two resource types, one in shell and one in Go; six resources; a plan that is
# saved, shown and applied; a change behind the tool's back, found and mended.
# `make demo` builds deployster and runs this with it on the PATH.
set -eu
demo=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$demo/../../.." && pwd)

work=$(mktemp -d)
if [ "$(id -u)" = 0 ]; then
	export DEPLOYSTER_DATA_DIR="${DEPLOYSTER_DATA_DIR:-/var/lib/deployster}"
fi
trap 'rm -rf "$work"' EXIT
cp "$demo/main.hcl" "$work"
mkdir "$work/site" "$work/file" "$work/cert"
cd "$work"

run() { printf '\n$ %s\n' "$*"; "$@"; }

# The types become images: a shell script on busybox, and one static Go binary.
mkdir -p file/bin
cp /bin/busybox file/bin/busybox
for applet in sh cat sed cut mkdir mv rm sha256sum printf; do ln -s busybox "file/bin/$applet"; done
cp "$demo/types/file/type.sh" file/type
(cd "$root" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags='-s -w -buildid=' -o "$work/cert/type" ./docs/examples/demo/types/cert)

run deployster image pack -t demo/file:1 -entrypoint /type file
run deployster image pack -t demo/cert:1 -entrypoint /type cert
run deployster plan -out=plan.bin
run deployster apply plan.bin
run deployster show
run deployster plan

printf '\nNow somebody edits a file and deletes a certificate, behind deployster'"'"'s back:\n'
run sh -c 'echo "Disallow: /" >> site/htdocs/robots.txt'
run rm site/api.crt
run deployster plan
run deployster apply -auto-approve
run deployster plan
