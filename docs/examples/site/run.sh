#!/bin/sh
# A web site on three machines, from fresh Debians to pages that are served: 43 resources are planned
# and applied, drift is shown and repaired, the pages are updated one machine after the other, and all of
# it is destroyed. `make demo-machines` boots the machines and runs this beside them.
set -eu
demo=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
export DEPLOYSTER_DATA_DIR="$work/data" DEPLOYSTER_IDLE_EXIT=2s DEPLOYSTER_KEEP=0s
clean() {
	cd /
	# A containerd leaves when nothing is asked of it, and then its directory can go.
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		ps -eo args | grep -q "^deployster-containerd.*$work" || break
		sleep 1
	done
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM
cp "$demo"/*.hcl "$demo"/*.tftpl "$work"
cd "$work"

# MACHINES and ADDRESSES name the machines, and SSH_CONFIG has how they are reached.
set -- $ADDRESSES
first=${MACHINES%% *}
{
	echo "ssh_config = \"$SSH_CONFIG\""
	echo 'machines = {'
	for name in $MACHINES; do
		echo "  $name = \"$1\""
		shift
	done
	echo '}'
} >vars.auto.hcl

run() { printf '\n$ %s\n' "$*"; "$@"; }
on() {
	machine=$1
	shift
	printf '\n%s# %s\n' "$machine" "$*"
	ssh -F "$SSH_CONFIG" "$machine" "$*"
}
pages() {
	set -- $ADDRESSES
	for name in $MACHINES; do
		printf '%s: ' "$name"
		ssh -n -F "$SSH_CONFIG" "$name" "exec 3<>/dev/tcp/$1/8080; printf 'GET / HTTP/1.0\r\n\r\n' >&3; grep h1 <&3"
		shift
	done
}

run cat vars.auto.hcl
run deployster plan -compact -out=plan.bin
run deployster apply plan.bin
run pages
run deployster plan -detailed-exitcode

printf '\nNow somebody changes things on one machine, behind deployster'"'"'s back:\n'
on "$first" 'echo hello >/srv/site/index.html; systemctl disable --now -q nginx; userdel deploy'
run deployster plan -compact
run deployster apply -auto-approve -compact

printf '\nOther pages, one machine after the other. The first that fails would be the last:\n'
export DEPLOYSTER_VAR_greeting="A warm welcome"
run deployster apply -auto-approve -compact -hosts 1 -max-failed-hosts 1
run pages

printf '\nThe end: nothing of it is left.\n'
run deployster destroy -auto-approve -compact
on "$first" 'ls -d /srv/site /etc/nginx/sites-available /home/deploy; id deploy; ls /etc/sysctl.d' || true
