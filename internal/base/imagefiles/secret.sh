#!/bin/sh
# The type of a secret block: it prints what a program prints, without the ends of lines after it.
case "$1" in
"")
	echo '{"protocol":2,"label":"Secret of a program","secret":{"args":["read"]},"config_schema":{"type":"object","properties":{"args":{"type":"array","items":{"type":"string"},"description":"arguments of the program"}},"additionalProperties":false}}'
	;;
read)
	eval "$(json)"
	set --
	n=0
	while [ "$n" -lt "${config_args_count:-0}" ]; do
		eval "set -- \"\$@\" \"\$config_args_$n\""
		n=$((n + 1))
	done
	if [ -d "$workspace" ]; then cd "$workspace"; fi
	value=$(/secret-program "$@") || exit
	printf '{"value":%s}\n' "$(printf %s "$value" | json -q)"
	;;
esac
