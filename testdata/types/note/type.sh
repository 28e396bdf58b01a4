#!/bin/sh
# A resource type whose things are known by their config, not by their address:
# a note is a file in the plug "world", at config.path, that holds config.text.
# /world/.log lists what was done, and for which address. Its state says more
# than its config: size, and lines.
in=$(cat)
name=${in#*\"name\":\"}
name=$(printf "%s" "${name%%\",*}" | sed 's/\\"/"/g')
config=${in#*\"config\":}
field() {
	case "$config" in
	*"\"$1\":\""*) value=${config#*\"$1\":\"} && printf '%s' "${value%%\"*}" ;;
	esac
}
path=$(field path)
text=$(field text)
file=/world/$path

case "$1" in
"")
	echo '{"protocol":2,"label":"Note","absent":true,"reuse":true,"identity":["/path"],
		"config_schema":{"type":"object","required":["path"],"additionalProperties":false,
			"properties":{"path":{"type":"string"},"text":{"type":"string"},"tags":{"type":"object"}}},
		"state_schema":{"type":"object","required":["path","text","size","lines"],
			"properties":{"path":{"type":"string"},"text":{"type":"string"},"size":{"$ref":"#/$defs/count"},
				"lines":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"}}}}},
			"$defs":{"count":{"type":"integer"}}},
		"plugs":{"world":{"container_path":"/world","writable":true}},"state_action":{"args":["state"]}}' ;;
state)
	have=$(cat "$file" 2>/dev/null)
	state='{"path":"'$path'","text":"'$have'","size":'${#have}',"lines":[{"text":"'$have'"}]}'
	case "$in" in
	*'"intent":"absent"'*)
		[ -e "$file" ] && echo '{"status":"STALE","staleState":'"$state"',"actions":[{"name":"remove","args":["remove"]}]}' ||
			echo '{"status":"MISSING"}' ;;
	*)
		if [ ! -e "$file" ]; then
			echo '{"status":"STALE","actions":[{"name":"write","args":["write"]}]}'
		elif [ "$have" = "$text" ]; then
			echo '{"status":"VALID","state":'"$state"'}'
		else
			echo '{"status":"STALE","staleState":'"$state"',"actions":[{"name":"rewrite","args":["rewrite"]}]}'
		fi ;;
	esac ;;
*)
	case "$1" in
	write | rewrite) printf '%s' "$text" >"$file" ;;
	remove) rm -f "$file" ;;
	esac
	echo "$1 $path for $name" >>/world/.log ;;
esac
