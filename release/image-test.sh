#!/bin/bash
# Unpacks the image for CIs, for this machine's architecture, and runs what it must have.
# Usage: image-test.sh DIR FILE VERSION
set -eu
root=$1/root file=$(realpath "$2") version=$3
rm -rf --one-file-system "$1"
mkdir -p "$root" "$1/layout"
cd "$1/layout"
tar -xf "$file"
blob() { echo "blobs/sha256/${1#sha256:}"; }
index=$(blob "$(jq -r '.manifests[0].digest' index.json)")
manifest=$(blob "$(jq -r --arg arch "$(dpkg --print-architecture)" '.manifests[] | select(.platform.architecture == $arch).digest' "$index")")
for digest in $(jq -r '.config.digest, .layers[].digest' "$manifest"); do
	echo "${digest#sha256:}  $(blob "$digest")"
done | sha256sum --quiet --check
[ "$(jq -r '.config.Labels["org.opencontainers.image.version"]' "$(blob "$(jq -r .config.digest "$manifest")")")" = "$version" ]
for digest in $(jq -r '.layers[].digest' "$manifest"); do
	tar -xzf "$(blob "$digest")" -C "$root"
done
unshare --mount --pid --fork bash -eu -c '
	mount --rbind /dev "$1/dev"
	mount -t proc proc "$1/proc"
	exec chroot "$1" /bin/sh -euxc "deployster version; git --version; jq --version; ssh -V; cd /workspace; deployster new machine; deployster fmt -check; deployster validate"
' - "$root"
echo 'image-test: passed'
