#!/bin/sh
# Prints the password of an entry in a store of pass: args = [ENTRY]. The store and the key are in the workspace.
set -e -o pipefail
export GNUPGHOME=/tmp/gnupg
mkdir -m 700 "$GNUPGHOME"
cp -r keys/. "$GNUPGHOME"
gpg --batch --quiet --decrypt "store/$1.gpg" | head -n 1
