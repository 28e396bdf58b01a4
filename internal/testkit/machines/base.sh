# Makes the Debian that all machines share: sh base.sh DIRECTORY MIRROR SUITE. It is made in memory
# and copied: dpkg writes each file to the disk before the next one, which takes minutes.
set -eu
base=$1/made
mkdir "$base"
mount -t tmpfs -o mode=755 tmpfs "$base"
mmdebstrap --quiet --mode=root --variant=apt --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --include=usr-is-merged,systemd,systemd-sysv,dbus \
	--include=openssh-server,ca-certificates,iproute2,kmod,procps,passwd,login,mount,tzdata "$3" "$base" "$2"
# Each machine has an id of its own, and all have one host key, since they live shortly and here alone.
rm -f "$base/etc/ssh/ssh_host_"* "$base/etc/machine-id" "$base/var/lib/dbus/machine-id" "$base"/var/cache/apt/archives/*.deb
ssh-keygen -q -t ed25519 -N '' -C '' -f "$base/etc/ssh/ssh_host_ed25519_key"
ssh-keygen -q -t ed25519 -N '' -C '' -f "$1/key"
mkdir -p -m 700 "$base/root/.ssh"
cp "$1/key.pub" "$base/root/.ssh/authorized_keys"
# Nothing begins by itself that takes apt's locks or the processors, and sshd listens by itself.
for unit in ssh.socket apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer console-getty.service; do
	ln -sf /dev/null "$base/etc/systemd/system/$unit"
done
echo "deb $2 $3 main" >"$base/etc/apt/sources.list"
cp /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/ca-certificates.crt"
cp -a "$base" "$1/root"
umount "$base"
rmdir "$base"
