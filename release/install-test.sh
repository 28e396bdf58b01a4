#!/bin/bash
# Installs the package in a Debian of its own, upgrades it while an action runs, goes back,
# removes and purges it. Usage: install-test.sh DIR OLD.deb NEW.deb
# DIR keeps the Debian. pivot_root, not chroot: a chroot forbids what containers need.
set -eu
dir=$(realpath "$1") old=$(realpath "$2") new=$(realpath "$3")
cd "$dir"
mirror=$(awk '$1 == "URIs:" { print $2; exit } $1 == "deb" { print $2; exit }' /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null | head -n 1)
if [ ! -e installed ]; then
	rm -rf --one-file-system debian
	debootstrap --variant=minbase bookworm debian "$mirror" >debootstrap.log 2>&1 || { tail -n 20 debootstrap.log; exit 1; }
	touch installed
fi
mkdir -p debian/old debian/srv
rm -rf debian/srv/* && cp "$old" debian/srv/old.deb && cp "$new" debian/srv/new.deb
cp "$(command -v busybox)" debian/usr/local/bin/busybox
cat >debian/srv/inside.sh <<'INSIDE'
set -eu
fail() { echo "install-test: $*" >&2; exit 1; }
step() { echo "install-test: $*"; }
# What purge may leave: dpkg's own records, and what this test wrote.
files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /srv -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache -o -path /tmp \) \
		-prune -o -print | sort
	find /run | sort
}
# until TEXT FILE: waits until the file has the text
until_text() {
	for second in $(seq 120); do
		grep -q "$1" "$2" && return
		sleep 1
	done
	cat "$2" >&2
	fail "$2 never had: $1"
}
running() { for p in /proc/[0-9]*; do tr '\0' ' ' 2>/dev/null <"$p/cmdline" | grep -E '^(deployster-containerd|/var/lib/deployster/|sleep 20)' || true; done; }

dpkg -P deployster >/dev/null 2>&1 || true
files >/srv/before
step 'installing'
dpkg -i /srv/old.deb
[ -z "$(running)" ] || fail 'the installation started something'
deployster version
deployster version | grep -q '/usr/lib/deployster/runc' || fail 'the runc of the package is not the one in use'

step 'upgrading while an action runs'
mkdir /srv/site && cd /srv/site
deployster new
sed -i 's/^write\*) /write*) sleep 20; /' type.sh
deployster image pack -t demo/note -shell type.sh
deployster apply -auto-approve >/srv/first.log 2>&1 &
client=$!
until_text 'today: write \.\.\.' /srv/first.log
sleep 3
kill -9 $client
dpkg -i /srv/new.deb
deployster version | head -n 1
deployster apply -auto-approve >/srv/second.log 2>&1 || { cat /srv/second.log; fail 'the apply after the upgrade failed'; }
cat /srv/second.log
grep -q '^hello' notes/today || fail 'the action has not ended'
deployster plan -detailed-exitcode

step 'a newer state is refused by name'
cp deployster.state.json /srv/state.json
sed -i 's/"format": *[0-9]*/"format": 99/' deployster.state.json
deployster plan >/srv/newer.log 2>&1 && fail 'a newer state was read'
grep -q 'newer deployster' /srv/newer.log || { cat /srv/newer.log; fail 'it is not named'; }
cp /srv/state.json deployster.state.json

step 'going back to the older version'
dpkg -i /srv/old.deb
deployster plan -detailed-exitcode

step 'removing keeps the data'
dpkg -r deployster
[ -d /var/lib/deployster/containerd ] || fail 'removing took the data'

step 'purging ends what runs'
dpkg -i /srv/new.deb
deployster apply -auto-approve -var text=bye >/srv/third.log 2>&1 &
client=$!
until_text 'today: write \.\.\.' /srv/third.log
sleep 3
kill -9 $client
[ -n "$(running)" ] || fail 'nothing runs that a purge could end'
dpkg -P deployster
[ -z "$(running)" ] || fail "left running: $(running)"
grep -E ' /(var/lib|run)/deployster' /proc/self/mounts && fail 'mounts are left'
files >/srv/after
diff /srv/before /srv/after || fail 'files are left'
step passed
INSIDE
cat >inner.sh <<'INNER'
set -e
mount --make-rprivate /
mount --bind debian debian
mount -t proc proc debian/proc
mount --rbind /sys debian/sys
mount --rbind /dev debian/dev
mount -t tmpfs tmpfs debian/run
cd debian
pivot_root . old
umount -l /old
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cd /
bash /srv/inside.sh && code=0 || code=$?
# The servers end, and remove their cgroups. This is process 1 of its own namespace.
kill -TERM -1 || true
for second in {1..60}; do
	set -- /proc/[0-9]*
	[ $# -gt 1 ] || break
	sleep 1
done
exit $code
INNER
unshare -m -p -f --mount-proc=/proc bash inner.sh
