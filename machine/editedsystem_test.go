//go:build machines

package main

import (
	"os"
	"strconv"
)

func editedAccounts() []edited {
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1QGGcHyYwJkfSBzsGTMjoI7e8B1cXHEv2oDxO5sNyo"
	const keys = "/home/keyed/.ssh/authorized_keys"
	return []edited{
		{kind: "group", config: map[string]any{"name": "edited", "gid": 7001}, edits: []edit{{"groupmod -g 7002 edited", "/gid"},
			{"gpasswd -a games edited", ""}, {"groupdel edited", gone}}},
		{kind: "user", config: map[string]any{"name": "edited", "uid": 7001, "shell": "/bin/bash", "comment": "Edited", "groups": []string{"audio"},
			"expires": "2031-12-31", "password_hash": "$6$salt$one", "remove_home": true}, edits: []edit{
			{"usermod -s /bin/sh edited", "/shell"}, {"usermod -c Other edited", "/comment"}, {"gpasswd -d edited audio", "/groups"},
			{"usermod -e 2032-01-01 edited", "/expires"}, {"usermod -p '$6$salt$two' edited", "/password_hash"}, {"usermod -u 7003 edited", "/uid"},
			{"gpasswd -a edited video", ""}, {"chage -M 90 edited", ""}, {"userdel -r edited", gone}}},
		{kind: "ssh_key", before: "useradd -m keyed", config: map[string]any{"user": "keyed", "key": key, "options": []string{"no-pty"}, "comment": "laptop"},
			edits: []edit{{"sed -i 's/no-pty/no-x11-forwarding/' " + keys, "/options"}, {"sed -i 's/laptop/desk/' " + keys, "/comment"},
				{"sed -i /sNyo/p " + keys, whole}, {"chmod 666 " + keys, whole}, {"chmod 777 /home/keyed/.ssh", whole},
				{"grep -q theirs " + keys + " || echo ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti theirs >>" + keys, ""},
				{"rm " + keys, gone}}},
	}
}

func editedSettings() []edited {
	const boot = "/etc/sysctl.d/99-zz-deployster-kernel.domainname.conf"
	return []edited{
		{kind: "hostname", config: map[string]any{"name": "edited"}, edits: []edit{{"echo other >/etc/hostname", "/name"}, {"hostname other", "/name"},
			{"rm /etc/hostname", "/name"}}},
		{kind: "timezone", config: map[string]any{"name": "Europe/Zurich"}, edits: []edit{{"ln -sf /usr/share/zoneinfo/Etc/UTC /etc/localtime", "/name"},
			{"rm /etc/localtime", gone}, {"echo Etc/UTC >/etc/timezone", "/name"}}},
		{kind: "locale", config: map[string]any{"lang": "C.UTF-8", "variables": map[string]any{"LC_TIME": "C.UTF-8"}}, edits: []edit{
			{"sed -i 's/^LANG=.*/LANG=C/' /etc/default/locale", "/lang"}, {"sed -i /LC_TIME/d /etc/default/locale", "/variables"},
			{"echo LC_PAPER=C.UTF-8 >>/etc/default/locale", "/variables"}, {"echo '# by hand' >>/etc/default/locale", ""},
			{alone + "rm /etc/default/locale", "/lang /variables"}}},
		{kind: "sysctl", config: map[string]any{"key": "kernel.domainname", "value": "edited"}, edits: []edit{
			{"echo other >/proc/sys/kernel/domainname", "/value"}, {"echo 'kernel/domainname = other' >" + boot, "/value"}, {"rm " + boot, "/value"},
			{"echo 'kernel.domainname = other' >/etc/sysctl.d/10-other.conf", ""}, {"echo other >/proc/sys/kernel/domainname; rm " + boot, gone}}},
	}
}

func editedUnits() []edited {
	const service = `printf '[Service]\nExecStart=/bin/sleep 100000\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/edited.service
systemctl daemon-reload`
	const drop = "/etc/systemd/system/edited.service.d/limits.conf"
	return []edited{
		{kind: "service", before: service, config: map[string]any{"name": "edited", "running": true, "enabled": true}, edits: []edit{
			{"systemctl stop edited", "/running"}, {"systemctl disable edited", "/enabled"}, {alone + "systemctl restart edited", ""},
			{"systemctl kill -s KILL edited; sleep 0.1", "/running"}}},
		{kind: "drop_in", before: service, config: map[string]any{"unit": "edited", "name": "limits", "sections": map[string]any{
			"Service": map[string]any{"LimitNOFILE": 4096}}}, edits: []edit{{"sed -i s/4096/1/ " + drop, "/sections"}, {"echo Nice=5 >>" + drop, "/sections"},
			{"rm " + drop, gone}, {"mkdir -p ${f=/etc/systemd/system/edited.service.d}; printf '[Service]\\nNice=5\\n' >$f/theirs.conf", ""}}},
		{kind: "unit", config: map[string]any{"name": "written", "content": "[Service]\nExecStart=/bin/sleep 100000\n"}, edits: []edit{
			{"echo Nice=5 >>/etc/systemd/system/written.service", "/content"}, {"sed -i s/100000/1/ /etc/systemd/system/written.service", "/content"},
			{"systemctl daemon-reload; systemctl start written", ""}, {"rm /etc/systemd/system/written.service", gone}}},
		{kind: "timer", config: map[string]any{"name": "timed", "command": []string{"/bin/true"}, "calendar": []string{"daily"}}, edits: []edit{
			{"sed -i s/daily/weekly/ /etc/systemd/system/timed.timer", whole}, {"sed -i s,/bin/true,/bin/false, /etc/systemd/system/timed.service", whole},
			{"systemctl stop timed.timer", whole}, {"systemctl disable timed.timer", whole}, {"rm /etc/systemd/system/timed.service", whole},
			{"systemctl start timed.service", ""}, {"systemctl disable --now timed.timer; rm /etc/systemd/system/timed.*; systemctl daemon-reload", gone}}},
		{kind: "mount", config: map[string]any{"path": "/srv/memory", "source": "tmpfs", "fstype": "tmpfs", "options": []string{"noexec"}}, edits: []edit{
			{"umount /srv/memory", "/mounted"}, {"systemctl disable srv-memory.mount", "/boot"}, {alone + "mount -o remount,exec /srv/memory", "/options"},
			{alone + "touch /srv/memory/theirs", ""}}},
		{kind: "swap", before: editedDisk, config: map[string]any{"path": "/srv/disk/file", "size": "2M", "priority": 5}, edits: []edit{
			{"swapoff /srv/disk/file", "/path"}, {alone + "swapoff /srv/disk/file; swapon -p 7 /srv/disk/file", "/priority"},
			{"chmod 644 /srv/disk/file", "/path"}, {"systemctl disable srv-disk-file.swap", "/path"},
			{"sed -i s/Priority=5/Priority=6/ /etc/systemd/system/srv-disk-file.swap", whole}, {"echo x >/srv/disk/theirs", ""},
			{alone + "swapoff /srv/disk/file; truncate -s 3M /srv/disk/file", "/path /size"}}},
	}
}

// editedDisk mounts a disk for a swap file, which the root of a machine cannot have. It is detached when it is unmounted.
const editedDisk = `test -e /dev/loop-control || mknod /dev/loop-control c 10 237
truncate -s 16M /srv/image.disk
n=$(losetup -f | tr -dc 0-9)
test -e /dev/loop$n || mknod -m 660 /dev/loop$n b 7 $n
losetup /dev/loop$n /srv/image.disk
mkfs.ext4 -q /dev/loop$n
mkdir -p /srv/disk
mount /dev/loop$n /srv/disk
losetup -d /dev/loop$n`

func editedPackages() []edited {
	return []edited{
		{kind: "package", config: map[string]any{"name": "judgedp0", "version": "1.1", "hold": true}, edits: []edit{
			{"apt-mark unhold judgedp0", "/hold"}, {alone + "dpkg -i /srv/repository/judgedp0-1.0.deb; apt-mark hold judgedp0", "/version"},
			{alone + "dpkg -i /srv/repository/judgedp0-2.0.deb; apt-mark unhold judgedp0", "/hold /version"}, {"apt-mark auto judgedp0", ""},
			{"apt-get install -qy --allow-change-held-packages judgedp1 >/dev/null 2>&1 </dev/null", ""}, {"dpkg --force-hold -r judgedp0", gone}}},
		{kind: "apt_source", before: "cp -a /srv/repository /srv/second; cp -a /srv/repository /srv/third", config: map[string]any{"name": "edited",
			"uris": []string{"copy:/srv/second"}, "suites": []string{"./"}, "trusted": true}, edits: []edit{
			{"sed -i s/second/third/ /etc/apt/sources.list.d/edited.sources", "/uris"}, {"sed -i /Trusted/d /etc/apt/sources.list.d/edited.sources", "/trusted"},
			{"sed -i 's/deb$/deb-src/' /etc/apt/sources.list.d/edited.sources", "/types"},
			{"echo 'Enabled: no' >>/etc/apt/sources.list.d/edited.sources", whole}, {alone + "echo '# by hand' >>/etc/apt/sources.list.d/edited.sources", whole},
			{"rm /etc/apt/sources.list.d/edited.sources", gone}}},
	}
}

// The machines have the packet filter of this one, so that the name of the table is of this process.
func editedServers() []edited {
	table := "edited_" + strconv.Itoa(os.Getpid())
	sql := func(text string) string { return `su postgres -c "psql -q -v ON_ERROR_STOP=1 -c '` + text + `'"` }
	return []edited{
		{kind: "nftables", config: map[string]any{"table": table, "ruleset": "chain c {\n\tip saddr 192.0.2.1 counter accept\n}\n"}, edits: []edit{
			{"nft add rule inet " + table + " c ip saddr 192.0.2.2 accept", "/ruleset"}, {"nft flush chain inet " + table + " c", "/ruleset"},
			{alone + "nft delete table inet " + table, "/table"}, {"systemctl disable deployster-nftables-inet-" + table, "/table"}}},
		{kind: "container", config: map[string]any{"name": "edited", "image": "localhost/test:1", "network": "none", "env": map[string]any{"A": "1"},
			"command": []string{"/bin/sh", "-c", `trap "exit 0" TERM; sleep 1000 & wait`}}, edits: []edit{{"systemctl stop container-edited", "/name"},
			{"systemctl disable container-edited", "/name"}, {"echo A=2 >/etc/deployster-containers/edited.env", "/env"},
			{alone + "sed -i s/RestartSec=1/RestartSec=2/ /etc/systemd/system/container-edited.service", whole}}},
		{kind: "postgres_role", before: sql("CREATE ROLE staff; CREATE ROLE others"), config: map[string]any{"name": "edited", "login": true,
			"connection_limit": 5, "member_of": []string{"staff"}, "password": "correct horse"}, edits: []edit{
			{sql("ALTER ROLE edited NOLOGIN"), "/login"}, {sql("ALTER ROLE edited CONNECTION LIMIT 6"), "/connection_limit"},
			{sql("REVOKE staff FROM edited"), "/member_of"}, {sql("ALTER ROLE edited PASSWORD \\$\\$other\\$\\$"), "/password"}, {sql("GRANT others TO edited"), ""},
			{sql("ALTER ROLE edited CREATEDB"), ""}, {sql("DROP ROLE edited"), gone}}},
		{kind: "postgres_database", before: sql("CREATE ROLE one") + "\n" + sql("CREATE ROLE two"), config: map[string]any{"name": "edited", "owner": "one",
			"connection_limit": 5, "privileges": map[string]any{"public": []string{"CONNECT"}, "two": []string{"CREATE"}}}, edits: []edit{
			{sql("ALTER DATABASE edited CONNECTION LIMIT 6"), "/connection_limit"}, {sql("GRANT TEMPORARY ON DATABASE edited TO public"), "/privileges/public"},
			{sql("REVOKE CREATE ON DATABASE edited FROM two"), "/privileges/two"}, {alone + sql("ALTER DATABASE edited OWNER TO postgres"), "/owner"},
			{sql("GRANT CONNECT ON DATABASE edited TO staff"), ""}, {sql("DROP DATABASE edited"), gone}}},
	}
}
