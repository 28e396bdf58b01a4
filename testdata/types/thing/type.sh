#!/bin/sh
# The resource type that the script tests use: a thing is a file in the plug
# "world" that holds its config. /world/.log lists what was done. Files beside
# it make it misbehave: NAME.fail (its actions exit 7), NAME.stuck (its actions
# do nothing), NAME.slow (its actions take as many seconds as it says), NAME.wait (its
# actions wait until that is gone). With a file /polish in the image, what was made is
# polished by a second action; with a file /worker it is a worker.

# do_one ARG carries out one invocation, whose input is the line $in.
do_one() {
	name=${in//\\\"/\'} # an instance is web['key'] here
	name=${name#*\"name\":\"}
	name=${name%%\"*}
	config=${in#*\"config\":}
	config=${config%%,\"intent\":*}
	file=/world/${name//\//%}

	case "$1" in
	"")
		echo '{"protocol":2,"label":"Thing","absent":true,"reuse":true,'"$worker"'
			"config_schema":{"type":"object","properties":{"size":{"type":"integer","minimum":1}}},
			"plugs":{"world":{"container_path":"/world","writable":true}},"state_action":{"args":["state"]}}' ;;
	state)
		have=
		[ -e "$file" ] && IFS= read -r have <"$file"
		case "$in" in
		*'"intent":"absent"'*)
			[ -z "$have" ] && echo '{"status":"MISSING"}' ||
				echo '{"status":"STALE","staleState":'"$have"',"actions":[{"name":"remove","args":["remove"]}]}' ;;
		*)
			if [ -z "$have" ]; then
				[ -e /polish ] && more=',{"name":"polish","args":["polish"]}'
				echo '{"status":"STALE","actions":[{"name":"make","description":"Make it","args":["make"]}'"$more"']}'
			elif [ "$have" = "$config" ]; then
				echo '{"status":"VALID","state":'"$have"'}'
			else
				echo '{"status":"STALE","staleState":'"$have"',"actions":[{"name":"change","description":"Change it","args":["change"]}]}'
			fi ;;
		esac ;;
	*)
		[ -e "$file.slow" ] && { echo "$1 $name begins" >>/world/.log; sleep "$(cat "$file.slow")"; }
		[ -e "$file.wait" ] && echo "$1 $name begins" >>/world/.log
		while [ -e "$file.wait" ]; do sleep 0.1; done
		[ -e "$file.fail" ] && { echo "no room for $name" >&2; return 7; }
		case "$1" in
		make | change) [ -e "$file.stuck" ] || printf '%s' "$config" >"$file" ;;
		remove) rm -f "$file" ;;
		esac
		echo "$1 $name" >>/world/.log
		echo "did $1" ;;
	esac
}

# escape makes $text the text of a JSON string.
escape() {
	text=${text//\\/\\\\}
	text=${text//\"/\\\"}
	text=${text//"
"/\\n}
	text=${text//"	"/\\t}
}

# serve answers one request to a worker.
serve() {
	id=${1#*\"id\":}
	id=${id%%[,\}]*}
	arg=${1#*\"args\":[\"}
	in=${1#*\"stdin\":}
	in=${in%\}}
	text=$(do_one "${arg%%\"*}" 2>"/tmp/$id")
	code=$?
	escape
	out=$text
	text=$(cat "/tmp/$id")
	escape
	[ -n "$text" ] && text="{\"id\":$id,\"stderr\":\"$text\\n\"}
"
	printf '%s{"id":%s,"stdout":"%s\\n"}\n{"id":%s,"exit":%s}\n' "$text" "$id" "$out" "$id" "$code"
}

[ -e /worker ] && worker='"worker":{"args":["worker"]},'
if [ "$1" = worker ]; then
	mkdir -p /tmp
	while IFS= read -r line; do
		serve "$line" &
	done
	wait
else
	IFS= read -r in # one line; cat would be a process more
	do_one "$1"
fi
