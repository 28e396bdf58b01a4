#!/bin/sh
# The probe in the form that runs in a container: see probe.go.
if [ "$1" = entry ]; then
	marker=entry
	shift
fi
case "$1" in
"" | argv) printf '%s\n' "$0" $marker "$@" ;;
exit) exit "$2" ;;
cat) exec cat ;;
both)
	echo "to stdout"
	echo "to stderr" >&2
	;;
flood)
	head -c "$2" /dev/zero | tr '\0' o
	head -c "$2" /dev/zero | tr '\0' e >&2
	;;
endless) exec tr '\0' o </dev/zero ;;
obey)
	trap 'echo got TERM; exit 42' TERM
	echo ready
	while :; do sleep 0.02; done
	;;
ignore)
	trap '' TERM
	echo ready
	while :; do sleep 0.02; done
	;;
tick)
	echo one
	sleep 1
	echo two
	;;
read) exec cat "$2" ;;
make)
	case "$2" in
	link) ln -s "$4" "$3" ;;
	directory) mkdir "$3" ;;
	fifo) mkfifo "$3" ;;
	sparse) truncate -s "$4" "$3" ;;
	esac
	;;
writeandfail)
	printf %s "$3" >"$2"
	exit 7
	;;
write) printf %s "$3" >"$2" ;;
env) eval "printf %s \"\$$2\"" ;;
pwd) pwd ;;
*)
	echo "the probe knows no $1" >&2
	exit 99
	;;
esac
