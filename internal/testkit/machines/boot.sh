# Becomes a machine, in a mount namespace and cgroups of its own: sh boot.sh BASE DIRECTORY NAME ADDRESS PORT CGROUP...
# All mounts end with the namespace. What the machine changes is in memory. Its data directory is
# beside its root, since an overlay cannot hold another.
set -eu
base=$1 dir=$2 name=$3 address=$4 port=$5
shift 5
for cgroup; do
	echo $$ >"$cgroup/cgroup.procs"
done
mount -t tmpfs -o mode=755 tmpfs "$dir"
cd "$dir"
mkdir -p up/etc/ssh/sshd_config.d work root data
echo "$name" >up/etc/hostname
printf '127.0.0.1 localhost\n%s %s\n' "$address" "$name" >up/etc/hosts
tr -d - </proc/sys/kernel/random/uuid >up/etc/machine-id
cat >up/etc/ssh/sshd_config.d/listen.conf <<END
ListenAddress $address:$port
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
UseDNS no
MaxStartups 500:30:1000
MaxSessions 500
END
mount -t overlay overlay -o "lowerdir=$base,upperdir=up,workdir=work" root
cat >start.sh <<'END'
# Boots what boot.sh has made, in its namespaces: sh start.sh NAME DIRECTORY
# The clock is that of this machine, and is not to be set: the first systemd-timedated that has a zone would move it by that.
exec systemd-nspawn --quiet -D root --boot --register=no --keep-unit -M "$1" --capability=all --drop-capability=CAP_SYS_TIME --bind="$2/data:/var/lib/deployster" \
	--resolv-conf=replace-host --system-call-filter='@known bpf keyctl perf_event_open'
END
exec sh start.sh "$name" "$dir"
