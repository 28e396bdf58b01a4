#!/bin/bash
# Deployster beside Ansible: the same 23 things on each of N machines, and then without changes.
#
# Both need something on a machine before they can work there: deployster sends its programs, ansible
# has apt install python. Both first runs are measured twice: with it, on machines that have neither,
# and without it, on machines that were prepared. `make bench-machines` boots 5 N machines and runs
# this beside them: N for each of these four, and N on which apt alone installs the package, whose
# time is taken from all first runs. On all machines apt has its indexes and archives already.
# RUNS is how often each is run without changes, on the machines that were prepared.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
export DEPLOYSTER_IDLE_EXIT=2s
ended() { # waits until no containerd of this machine is left
	for _ in $(seq 40); do
		ps -eo args | grep -q "^deployster-containerd.*$work" || return 0
		sleep 1
	done
}
clean() {
	cd /
	for socket in "$work"/*/cp/*; do
		[ ! -S "$socket" ] || ssh -o ControlPath="$socket" -O exit anything 2>/dev/null || true
	done
	ended
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

declare -A address
read -ra all <<<"$MACHINES"
read -ra addresses <<<"$ADDRESSES"
for i in "${!all[@]}"; do address[${all[i]}]=${addresses[i]}; done
n=$((${#all[@]} / 5))
group() { echo "${all[*]:$1*n:n}"; }
on() { ssh -n -F "$SSH_CONFIG" "$@"; }
each() { # each "MACHINES" SCRIPT: on all at the same time
	pids=
	for m in $1; do
		on "$m" "$2" >"$work/out.$m" 2>&1 & pids="$pids $!"
	done
	for p in $pids; do wait "$p"; done
}
now() { date +%s%N; }
took() { # took DIRECTORY COMMAND...: prints its milliseconds
	cd "$work/$1"
	shift
	begin=$(now)
	if ! "$@" >"$work/log" 2>&1; then
		tail -n 40 "$work/log" >&2
		exit 1
	fi
	echo $((($(now) - begin) / 1000000))
}
side() { # side DIRECTORY "MACHINES" "MACHINES": the first ones are deployster's, the others ansible's
	mkdir -p "$work/$1/cp"
	cd "$work/$1"
	cp "$here"/main.hcl "$here"/vhost.tftpl "$here"/*.yml .
	{
		echo "ssh_config = \"$SSH_CONFIG\""
		echo 'machines = {'
		for m in $2; do echo "  $m = \"${address[$m]}\""; done
		echo '}'
	} >vars.auto.hcl
	for m in $3; do echo "$m address=${address[$m]}"; done >inventory
	cat >ansible.cfg <<END
[defaults]
inventory = inventory
host_key_checking = False
forks = 20
local_tmp = $work/$1/ansible
[ssh_connection]
pipelining = True
ssh_args = -F $SSH_CONFIG -o ControlMaster=auto -o ControlPersist=60s
control_path_dir = $work/$1/cp
END
}
ours() { # ours DIRECTORY COMMAND...: with a data directory of its own
	DEPLOYSTER_DATA_DIR="$work/$1/data" took "$1" deployster "${@:2}"
}
theirs() { ANSIBLE_CONFIG="$work/$1/ansible.cfg" ANSIBLE_HOME="$work/$1/ansible" took "$1" ansible-playbook "$2"; }

side bare "$(group 0)" "$(group 1)"
side prepared "$(group 2)" "$(group 3)"
echo "preparing ${#all[@]} machines" >&2
archives='exec </dev/null; export DEBIAN_FRONTEND=noninteractive; install="apt-get install -y --no-install-recommends"
apt-get update && $install --download-only python3 python3-apt && $install --download-only nginx'
each "$(group 0) $(group 1) $(group 2) $(group 4)" "$archives"
each "$(group 3)" "$archives && \$install python3 python3-apt && \$install --download-only nginx"
prepared=$(ours prepared host check)
each "$(group 2)" 'pkill -f ^deployster-containerd; sleep 1'
ended

bare=$(ours bare apply -auto-approve)
bare_theirs=$(theirs bare python.yml)
alone=$(took . each "$(group 4)" 'DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends nginx')
first=$(ours prepared apply -auto-approve)
first_theirs=$(theirs prepared playbook.yml)

for m in $(group 0) $(group 1) $(group 2) $(group 3); do
	on "$m" "$(cat "$here/check.sh")" >"$work/is.$m" 2>&1
	cmp -s "$work/is.${all[0]}" "$work/is.$m" || { echo "$m is not as ${all[0]}:" >&2; diff "$work/is.${all[0]}" "$work/is.$m" >&2 || true; exit 1; }
done

again= again_theirs=
for _ in $(seq "${RUNS:-3}"); do
	again="$again $(ours prepared apply -auto-approve)"
	again_theirs="$again_theirs $(theirs prepared playbook.yml)"
done
grep -q 'changed=0 ' "$work/log" || { echo 'ansible has changed something again' >&2; exit 1; }
median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
now_ours=$(median $again) now_theirs=$(median $again_theirs)

row() { awk -v what="$1" -v a="$2" -v b="$3" 'BEGIN { printf "%-46s %10.2f s %10.2f s %8.1f times\n", what, a / 1000, b / 1000, b / a }'; }
less() { echo "$(($1 > alone ? $1 - alone : 1))"; }
printf '%-46s %12s %12s\n' "23 things on each of $n machines" deployster ansible
row "first run, on machines without either" "$bare" "$bare_theirs"
row "  without apt's own $(awk -v a="$alone" 'BEGIN { printf "%.2f", a / 1000 }') s" "$(less "$bare")" "$(less "$bare_theirs")"
row "first run, on machines that were prepared" "$first" "$first_theirs"
row "  without apt's own" "$(less "$first")" "$(less "$first_theirs")"
row "run without changes, median of ${RUNS:-3}" "$now_ours" "$now_theirs"
