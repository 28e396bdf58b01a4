#!/bin/sh
if [ $# = 0 ]; then
	cat <<'END'
{ "protocol": 2, "label": "Note", "absent": true, "identity": ["/name"], "reuse": true, "reuse_actions": true,
  "state_action": { "args": ["state"] }, "watch_action": { "args": ["watch"] },
  "plugs": { "notes": { "container_path": "/notes" } },
  "config_schema": { "type": "object", "additionalProperties": false, "required": ["name", "text"], "properties": {
    "name": { "type": "string", "pattern": "^[a-z]+$" }, "text": { "type": "string", "description": "what stands in it" } } } }
END
	exit
fi
read -r line # stdin of a watch goes on: its end says end
eval "$(printf '%s\n' "$line" | json)"
file=/notes/$config_name
stale() { echo "{\"status\":\"STALE\",$2\"actions\":[{\"name\":\"$1\",\"args\":[\"$1\"]}]}"; }
stamp() { stat -c '%i %s %y %z' "$file" 2>&1; } # other words when the note is another
case "$1 $intent" in
watch*)
	was=$(stamp)
	echo '{}' # from now on
	while sleep 0.3; do
		is=$(stamp)
		[ "$is" = "$was" ] || echo '{}'
		was=$is
	done &
	cat >/dev/null # until stdin ends
	kill $! ;;
"state absent") [ -e "$file" ] && stale remove || echo '{"status":"MISSING"}' ;;
"state present")
	if [ ! -e "$file" ]; then stale write
	elif printf %s "$config_text" | cmp -s - "$file"; then echo "{\"status\":\"VALID\",\"state\":{\"text\":$(printf %s "$config_text" | json -q)}}"
	else stale write "\"staleState\":{\"text\":$(json -q <"$file")},"
	fi ;;
write*) printf %s "$config_text" >"$file.new" && mv "$file.new" "$file" ;;
remove*) rm -f "$file" ;;
esac
