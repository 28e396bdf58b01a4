#!/bin/sh
# Keeps a directory of the plug "www" the same as the plug "files".
if [ $# = 0 ]; then # init: what are you?
	cat <<'END'
{ "protocol": 2, "label": "Copy", "absent": true, "identity": ["/name"], "reuse": true, "reuse_actions": true,
  "state_action": { "args": ["state"] },
  "plugs": { "files": { "container_path": "/files", "writable": false }, "www": { "container_path": "/www" } },
  "config_schema": { "type": "object", "additionalProperties": false, "required": ["name"], "properties": {
    "name": { "type": "string", "pattern": "^[a-z]+$", "description": "the directory" } } } }
END
	exit
fi
eval "$(json)" # stdin as variables: $intent, $config_name
dir=/www/$config_name
files() { find "$dir" -type f | wc -l; }
stale() { echo "{\"status\":\"STALE\",$2\"actions\":[{\"name\":\"$1\",\"args\":[\"$1\"]}]}"; }
case "$1 $intent" in
"state absent") [ -e "$dir" ] && stale remove || echo '{"status":"MISSING"}' ;;
"state present")
	if diff -r /files "$dir" >/dev/null 2>&1; then echo "{\"status\":\"VALID\",\"state\":{\"files\":\"$(files)\"}}"
	elif [ -e "$dir" ]; then stale copy "\"staleState\":{\"files\":\"$(files)\"},"
	else stale copy
	fi ;;
copy*) rm -rf "$dir.new" && cp -R /files "$dir.new" && rm -rf "$dir" && mv "$dir.new" "$dir" ;;
remove*) rm -rf "$dir" ;;
esac
