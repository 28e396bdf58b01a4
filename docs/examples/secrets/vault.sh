#!/bin/sh
# Prints a key of a secret in Vault or OpenBao, from version 2 of its KV engine: args = [PATH, KEY]. VAULT_ADDR and VAULT_TOKEN
# are in the environment; the token is on no command line.
set -e -o pipefail
printf 'header = "X-Vault-Token: %s"\n' "$VAULT_TOKEN" |
	curl --silent --show-error --fail --config - "$VAULT_ADDR/v1/${VAULT_MOUNT:-secret}/data/$1" |
	jq --exit-status --raw-output --arg key "$2" '.data.data[$key] // error("it has no key " + $key)'
