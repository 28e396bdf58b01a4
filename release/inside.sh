#!/bin/bash
# Installs the older package on the Debian in which it runs, upgrades it to /srv/new.deb while an action runs,
# goes back, removes and purges it. What a watch does is tested where systemd runs.
set -eu
fail() { echo "install-test: $*" >&2; exit 1; }
step() { echo "install-test: $*"; }
booted() { [ -d /run/systemd/system ]; }
# What purge may leave: dpkg's own records, what systemd keeps for itself, and what this test wrote.
files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /srv -o -path /run -o -path /var/lib/dpkg -o -path /var/lib/systemd -o -path /var/lib/apt \
		-o -path /var/log -o -path /var/cache -o -path /tmp -o -path /var/tmp \) -prune -o -printf '%p %y %m %u %g %s %l\n' |
		awk '$2 == "d" { $6 = 0 } $1 == "/var/lib/deployster" { $3 = 0 } { print }' | sort
	find /run /var/lib/deployster -path '*deployster*' 2>/dev/null | sort
}
# until COMMAND...: waits for at most two minutes
until_it() {
	for second in $(seq 240); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.5
	done
	fail "it never came true: $*"
}
logged() { until_it grep -q "$1" "$2" || { cat "$2" >&2; exit 1; }; }
running() { for p in /proc/[0-9]*; do tr '\0' ' ' 2>/dev/null <"$p/cmdline" | grep -E '^(deployster-containerd|/var/lib/deployster/|sleep 20)' || true; done; }
# refused WHAT: the next command must name that a newer deployster has written it
refused() { deployster plan >/srv/newer.log 2>&1 && fail "a newer $1 was read"; grep -q "$1 is of a newer deployster" /srv/newer.log || { cat /srv/newer.log; fail 'it is not named'; }; }

dpkg -P deployster >/dev/null 2>&1 || true
echo 'APT::Install-Recommends "false";' >/etc/apt/apt.conf.d/90inside # nothing is fetched
cp /srv/busybox /usr/local/bin/ # for a type in shell
files >/srv/before

step 'installing, and the first plan of the README'
cd /root
cp /srv/deployster_old_*.deb .
bash -eux /srv/readme.sh || fail 'the commands of the README'
grep hello /srv/hello/greeting
rm -r hello deployster_old_*.deb
[ "$(dpkg-query -f '${Version}' -W deployster)" = "$(dpkg-deb -f /srv/deployster_old_*.deb Version)" ] || fail 'another version is installed'
deployster version | tee /srv/version
grep -q '/usr/lib/deployster/runc' /srv/version || fail 'the runc of the package is not the one in use'

if booted; then
	step 'a unit watches, and repairs'
	mkdir -p /etc/deployster/hello && cd /etc/deployster/hello
	deployster new machine
	sed -i 's|/srv/|/opt/|' main.hcl
	deployster plan -out=applied.plan >/dev/null
	deployster apply applied.plan >/dev/null
	systemd-analyze verify --man=no deployster-watch@hello.service
	systemctl enable --now deployster-watch@hello
	[ "$(systemctl show -P ActiveState deployster-watch@hello)" = active ] || fail 'the unit is not active'
	[ "$(systemctl show -P Type deployster-watch@hello)" = notify ] || fail 'systemd does not know the type of the unit'
	file=$(find /opt -type f | head -n 1)
	rm "$file"
	until_it test -e "$file"
	systemctl reload deployster-watch@hello
	watch=$(systemctl show -P MainPID deployster-watch@hello)
fi

step 'upgrading while an action runs'
mkdir /srv/site && cd /srv/site
deployster new type-shell
sed -i 's/^write\*) /write*) sleep 20; /' type.sh
deployster image pack -t demo/note -shell type.sh
deployster apply -auto-approve >/srv/first.log 2>&1 &
client=$!
logged 'today: write \.\.\.' /srv/first.log
sleep 3
kill -9 $client
dpkg -i /srv/new.deb
deployster version | head -n 1
deployster apply -auto-approve >/srv/second.log 2>&1 || { cat /srv/second.log; fail 'the apply after the upgrade failed'; }
cat /srv/second.log
grep -q '^hello' notes/today || fail 'the action has not ended'
deployster plan -detailed-exitcode
if booted; then
	[ "$(systemctl show -P ActiveState deployster-watch@hello)" = active ] || fail 'the watch has ended'
	[ "$(systemctl show -P MainPID deployster-watch@hello)" != "$watch" ] || fail 'the watch is of the version before'
	rm "$file"
	until_it test -e "$file"
fi

step 'what a newer version has written is refused by name'
deployster plan -out=plan.bin >/dev/null
cp deployster.state.json /srv/state.json
sed -i 's/"format": *[0-9]*/"format": 99/' deployster.state.json
refused 'state file'
cp /srv/state.json deployster.state.json
echo 'host "x" {}' >.deployster.lock.hcl
refused 'lock file'
rm .deployster.lock.hcl

step 'going back to the older version'
dpkg -i --force-downgrade /srv/deployster_old_*.deb
deployster plan -detailed-exitcode

step 'removing keeps the data'
dpkg -r deployster
[ -d /var/lib/deployster/containerd ] || fail 'removing took the data'
if booted; then
	[ "$(systemctl show -P ActiveState deployster-watch@hello)" = inactive ] || fail 'the watch runs'
fi

step 'purging ends what runs'
dpkg -i /srv/new.deb
deployster apply -auto-approve -var text=bye >/srv/third.log 2>&1 &
client=$!
logged 'today: write \.\.\.' /srv/third.log
sleep 3
kill -9 $client
[ -n "$(running)" ] || fail 'nothing runs that a purge could end'
dpkg -P deployster
[ -z "$(running)" ] || fail "left running: $(running)"
grep -E ' /(var/lib|run)/deployster/' /proc/self/mounts && fail 'mounts are left'
rm -rf /etc/deployster /opt/hello # of this test
files >/srv/after
diff /srv/before /srv/after || fail 'files are left'
step passed
