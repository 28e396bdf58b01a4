#!/bin/sh
# A resource type in shell: one text file below the plug "root". It needs
# nothing but busybox. deployster sends JSON in one line on stdin.
in=$(cat)
config=${in#*\"config\":}
config=${config%%,\"intent\":*}
# text KEY: the value of a string in the config, as JSON writes it
text() { printf '%s' "$config" | sed -n 's/.*"'"$1"'":"\(\([^"\\]\|\\.\)*\)".*/\1/p'; }
# plain JSON-TEXT: the same without JSON's escapes
plain() { printf '%b' "$(printf '%s' "$1" | sed 's/\\"/"/g; s/\\\//\//g')"; }

case "$1" in
"")
	cat <<'EOF'
{ "protocol": 2, "label": "Text file", "absent": true, "identity": ["/path"], "reuse": true, "reuse_actions": true,
  "config_schema": { "type": "object", "additionalProperties": false, "required": ["path", "content"],
    "properties": { "path": { "type": "string", "pattern": "^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$" }, "content": { "type": "string" } } },
  "plugs": { "root": { "container_path": "/root-dir", "writable": true } },
  "state_action": { "args": ["state"] } }
EOF
	exit ;;
esac

path=$(text path) content=$(text content)
file=/root-dir/$path
case "$1" in
state)
	sum() { sha256sum | cut -d' ' -f1; }
	want=$(plain "$content" | sum)
	have=$([ -f "$file" ] && sum <"$file")
	case "$in" in
	*'"intent":"absent"'*)
		[ -z "$have" ] && echo '{"status":"MISSING"}' ||
			echo '{"status":"STALE","staleState":{"path":"'"$path"'"},"actions":[{"name":"remove","description":"Remove '"$path"'","args":["remove"]}]}' ;;
	*)
		if [ -z "$have" ]; then
			echo '{"status":"STALE","actions":[{"name":"write","description":"Write '"$path"'","args":["write"]}]}'
		elif [ "$have" = "$want" ]; then
			echo '{"status":"VALID","state":{"path":"'"$path"'","sha256":"'"$have"'"}}'
		else
			echo '{"status":"STALE","staleState":{"path":"'"$path"'","sha256":"'"$have"'"},
				"reasons":[{"path":"/content","have":"sha256 '"$have"'","want":"sha256 '"$want"'"}],
				"actions":[{"name":"write","description":"Write '"$path"' again","args":["write"]}]}'
		fi ;;
	esac ;;
write)
	mkdir -p "${file%/*}" && plain "$content" >"$file.new" && mv "$file.new" "$file" && echo "wrote $path" ;;
remove)
	rm -f "$file" && echo "removed $path" ;;
esac
