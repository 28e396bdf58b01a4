#!/bin/bash
# Deployster beside Ansible: the same 23 things on each of three machines, from machines that have
# neither, and without changes. `make bench-machines` boots nine machines and runs this beside them:
# three for each of the two, and three on which apt alone installs the package, whose time is taken
# from both first runs. RUNS is how often each is run without changes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
export DEPLOYSTER_DATA_DIR="$work/data" DEPLOYSTER_IDLE_EXIT=2s
clean() {
	cd /
	ssh_ends
	for _ in $(seq 40); do
		ps -eo args | grep -q "^deployster-containerd.*$work" || break
		sleep 1
	done
	rm -rf "$work"
}
ssh_ends() {
	for socket in "$work"/cp/*; do
		[ ! -S "$socket" ] || ssh -o ControlPath="$socket" -O exit anything 2>/dev/null || true
	done
}
trap clean EXIT
trap 'exit 1' INT TERM
cp "$here"/main.hcl "$here"/vhost.tftpl "$here"/playbook.yml "$work"
cd "$work"
mkdir cp

declare -A address
set -- $ADDRESSES
for m in $MACHINES; do
	address[$m]=$1
	shift
done
set -- $MACHINES
ours="$1 $2 $3" theirs="$4 $5 $6" apt="$7 $8 $9"
on() { ssh -n -F "$SSH_CONFIG" "$@"; }
each() { # each "MACHINES" SCRIPT: on all at the same time
	pids=
	for m in $1; do
		on "$m" "$2" >"out.$m" 2>&1 & pids="$pids $!"
	done
	for p in $pids; do wait "$p"; done
}
now() { date +%s%N; }
took() { # took COMMAND...: prints its milliseconds
	begin=$(now)
	if ! "$@" >log 2>&1; then
		tail -n 40 log >&2
		exit 1
	fi
	echo $((($(now) - begin) / 1000000))
}

echo "preparing nine machines: python3 for ansible, and the archives of nginx" >&2
each "$ours $theirs $apt" 'exec </dev/null; export DEBIAN_FRONTEND=noninteractive; apt-get update && apt-get install -y --no-install-recommends python3 python3-apt && apt-get install -y --no-install-recommends --download-only nginx'

{
	echo "ssh_config = \"$SSH_CONFIG\""
	echo 'machines = {'
	for m in $ours; do echo "  $m = \"${address[$m]}\""; done
	echo '}'
} >vars.auto.hcl
for m in $theirs; do echo "$m address=${address[$m]}"; done >inventory
cat >ansible.cfg <<END
[defaults]
inventory = inventory
host_key_checking = False
forks = 20
[ssh_connection]
pipelining = True
ssh_args = -F $SSH_CONFIG -o ControlMaster=auto -o ControlPersist=60s
control_path_dir = $work/cp
END
export ANSIBLE_CONFIG="$work/ansible.cfg" ANSIBLE_LOCAL_TEMP="$work/ansible" ANSIBLE_HOME="$work/ansible"

alone=$(took each "$apt" 'DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends nginx')
first=$(took deployster apply -auto-approve)
first_theirs=$(took ansible-playbook playbook.yml)

for m in $MACHINES; do
	case " $apt " in
	*" $m "*) ;;
	*) on "$m" "$(cat "$here/check.sh")" >"is.$m" 2>&1 ;;
	esac
done
for m in $ours $theirs; do
	cmp -s "is.$m" "is.${ours%% *}" || { echo "$m is not as ${ours%% *}:" >&2; diff "is.${ours%% *}" "is.$m" >&2 || true; exit 1; }
done

again= again_theirs=
for _ in $(seq "${RUNS:-3}"); do
	again="$again $(took deployster apply -auto-approve)"
	again_theirs="$again_theirs $(took ansible-playbook playbook.yml)"
done
grep -q 'changed=0 ' log || { echo 'ansible has changed something again' >&2; exit 1; }
median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
now_ours=$(median $again) now_theirs=$(median $again_theirs)

row() { awk -v what="$1" -v a="$2" -v b="$3" 'BEGIN { printf "%-44s %10.2f s %10.2f s %8.1f times\n", what, a / 1000, b / 1000, b / a }'; }
printf '%-44s %12s %12s\n' "23 things on each of 3 machines" deployster ansible
row "first run" "$first" "$first_theirs"
row "first run without apt's own $(awk -v a="$alone" 'BEGIN { printf "%.2f", a / 1000 }') s" "$((first > alone ? first - alone : 1))" "$((first_theirs - alone))"
row "run without changes, median of ${RUNS:-3}" "$now_ours" "$now_theirs"
