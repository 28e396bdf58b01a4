#!/bin/bash
# Runs inside.sh in a Debian of its own without systemd, as in a container. Usage: bare-test.sh DIR FILES
# DIR keeps the Debian, FILES are inside.sh, readme.sh and the packages of two versions. pivot_root, not chroot: a
# chroot forbids what containers need.
set -eu
mkdir -p "$1"
dir=$(realpath "$1") files=$(realpath "$2")
cd "$dir"
mirror=$(awk '$1 == "URIs:" { print $2; exit } $1 == "deb" { print $2; exit }' /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null | head -n 1)
if [ ! -e installed ]; then
	rm -rf --one-file-system debian
	debootstrap --variant=minbase bookworm debian "$mirror" >debootstrap.log 2>&1 || { tail -n 20 debootstrap.log; exit 1; }
	touch installed
fi
mkdir -p debian/old
rm -rf --one-file-system debian/srv debian/var/lib/deployster
mkdir -p debian/srv
cp "$files"/* debian/srv/
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
