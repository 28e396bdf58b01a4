#!/bin/sh
# Two hosts, reached by ssh, and a shared state, on this machine and without a network:
# plan, a rolling apply, drift on one host, a host that is down, another machine that
# goes on, and the end. All of it is gone afterwards. `make demo-hosts` builds deployster
# and runs this with it on the PATH.
set -eu
demo=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$demo/../../.." && pwd)

work=$(mktemp -d)
export DEPLOYSTER_IDLE_EXIT=2s DEPLOYSTER_KEEP=0s
sshd=
clean() {
	cd /
	[ -z "$sshd" ] || kill "$sshd"
	# A containerd leaves when nothing is asked of it, and then its directory can go.
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		ps -eo args | grep -q "^deployster-containerd.*$work" || break
		sleep 1
	done
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM
mkdir -p "$work/home" "$work/one/ssh" "$work/two" "$work/world" "$work/file/bin" /run/sshd
sed "s|DIR|$work|g" "$demo/main.hcl" >"$work/one/main.hcl"
export DEPLOYSTER_DATA_DIR="$work/data"

# The hosts: one sshd on loopback, and a data directory for each.
ssh-keygen -q -t ed25519 -N '' -f "$work/one/ssh/id"
ssh-keygen -q -t ed25519 -N '' -f "$work/one/ssh/hostkey"
port=$(awk 'BEGIN { srand(); print 20000 + int(rand() * 20000) }')
/usr/sbin/sshd -D -f /dev/null -o ListenAddress="127.0.0.1:$port" -o HostKey="$work/one/ssh/hostkey" -o PidFile=none \
	-o AuthorizedKeysFile="$work/one/ssh/id.pub" -o StrictModes=no -o UsePAM=no -o PermitRootLogin=prohibit-password \
	-o PasswordAuthentication=no -o UseDNS=no -o SetEnv="DEPLOYSTER_IDLE_EXIT=2s HOME=$work/home" &
sshd=$!
export DEPLOYSTER_VAR_port="$port"

run() { printf '\n$ %s\n' "$*"; "$@"; }

cp /bin/busybox "$work/file/bin/busybox"
for applet in sh cat sed cut mkdir mv rm sha256sum printf; do ln -s busybox "$work/file/bin/$applet"; done
cp "$root/docs/examples/demo/types/file/type.sh" "$work/file/type"
cd "$work/one"

run deployster image pack -t demo/file:1 -entrypoint /type ../file
run deployster host check
run deployster plan -out=plan.bin
run deployster apply -hosts 1 plan.bin
run cat ../world/motd-a ../world/motd-b
run deployster state status

printf '\nNow somebody removes the file on one host, behind deployster'"'"'s back:\n'
run rm ../world/motd-b
run deployster plan
run deployster apply -auto-approve -hosts 1 -max-failed-hosts 1

printf '\nAnother machine, with another directory and containerd of its own, goes on with the same state:\n'
cp -R . ../two
cd ../two
export DEPLOYSTER_DATA_DIR="$work/data2"
run deployster image pack -t demo/file:1 -entrypoint /type ../file
run deployster plan
run deployster destroy -auto-approve
run deployster state status
