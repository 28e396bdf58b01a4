#!/bin/sh
# The resource type of the machine that ends deployster everywhere: a thing is a
# file in the plug "world" that holds its config. An action notes in /world/log
# what it does, and that is on the disk before it goes on. Then it takes a while.
in=$(cat)
name=${in#*\"name\":\"}
name=${name%%\"*}
config=${in#*\"config\":}
config=${config%%,\"intent\":*}
key=${in#*\"idempotency_key\":\"}
key=${key%%\"*}
file=/world/$name

case "$1" in
"")
	echo '{"protocol":2,"absent":true,"plugs":{"world":{"container_path":"/world","writable":true}},"state_action":{"args":["state"]}}' ;;
state)
	have=$(cat "$file" 2>/dev/null)
	case "$in" in
	*'"intent":"absent"'*)
		[ -z "$have" ] && echo '{"status":"MISSING"}' ||
			echo '{"status":"STALE","staleState":'"$have"',"actions":[{"name":"remove","args":["remove"]}]}' ;;
	*)
		if [ -z "$have" ]; then
			echo '{"status":"STALE","actions":[{"name":"make","args":["make"]}]}'
		elif [ "$have" = "$config" ]; then
			echo '{"status":"VALID","state":'"$have"'}'
		else
			echo '{"status":"STALE","staleState":'"$have"',"actions":[{"name":"change","args":["change"]}]}'
		fi ;;
	esac ;;
*)
	echo '{"key":"'"$key"'","action":"'"$1"'","name":"'"$name"'","config":'"$config"'}' >>/world/log
	sync /world/log
	sleep 0.1
	case "$1" in
	make | change) printf '%s' "$config" >"$file" ;;
	remove) rm "$file" ;;
	esac ;;
esac
