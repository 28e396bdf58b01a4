#!/bin/sh
if [ $# = 0 ]; then # init: what are you?
	cat <<'END'
{ "protocol": 2, "label": "Note", "absent": true, "identity": ["/name"], "reuse": true, "reuse_actions": true,
  "state_action": { "args": ["state"] }, "plugs": { "notes": { "container_path": "/notes" } },
  "config_schema": { "type": "object", "additionalProperties": false, "required": ["name", "text"], "properties": {
    "name": { "type": "string", "pattern": "^[a-z]+$" }, "text": { "type": "string", "description": "what stands in it" } } } }
END
	exit
fi
eval "$(json)" # stdin as variables: $intent, $config_name, $config_text
file=/notes/$config_name
stale() { echo "{\"status\":\"STALE\",$2\"actions\":[{\"name\":\"$1\",\"args\":[\"$1\"]}]}"; }
case "$1 $intent" in
"state absent") [ -e "$file" ] && stale remove || echo '{"status":"MISSING"}' ;;
"state present")
	if [ ! -e "$file" ]; then stale write
	elif printf %s "$config_text" | cmp -s - "$file"; then echo "{\"status\":\"VALID\",\"state\":{\"text\":$(printf %s "$config_text" | json -q)}}"
	else stale write "\"staleState\":{\"text\":$(json -q <"$file")},"
	fi ;;
write*) printf %s "$config_text" >"$file.new" && mv "$file.new" "$file" ;;
remove*) rm -f "$file" ;;
esac
