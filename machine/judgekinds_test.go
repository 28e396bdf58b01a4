//go:build machines

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// draw makes the random choices of one object in one round.
type draw struct {
	*rand.Rand
	round, slot int
	had         bool           // the object is one of the round before
	last        map[int]string // the line of each slot
}

// judged is one config: of deployster, nil for none, and as tasks of Ansible. before is a script that both machines run
// first, and check one that prints what is to be equal.
type judged struct {
	config        map[string]any
	tasks         []map[string]any
	before, check string
}

var judgedKinds = []struct {
	name string
	draw func(draw) judged
}{{"file", judgedFile}, {"line", judgedLine}, {"group", judgedGroup}, {"user", judgedUser}, {"cron", judgedCron},
	{"service", judgedService}, {"package", judgedPackage}, {"sysctl", judgedSysctl}}

func (d draw) one(of ...string) string { return of[d.IntN(len(of))] }

func (d draw) chance(in int) bool { return d.IntN(in) == 0 }

// absent reports whether an object that both have made is to be removed.
func (d draw) absent() bool { return d.had && d.chance(4) }

// some draws values for some of the keys.
func (d draw) some(values map[string]any) map[string]any {
	config := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if d.chance(2) {
			config[key] = values[key]
		}
	}
	return config
}

func task(module string, args map[string]any) map[string]any { return map[string]any{module: args} }

// with returns a copy that has more keys.
func with(config map[string]any, more map[string]any) map[string]any {
	all := maps.Clone(config)
	maps.Copy(all, more)
	return all
}

// A number that no config gives depends on which object was made first: only its range is compared.
const numberRange = ` | awk -F: '{ print $1, $3 < 1000 ? "system" : "usual" }'`

func judgedGroup(d draw) judged {
	name := fmt.Sprintf("judgedg%d", d.slot)
	if d.absent() {
		return judged{check: "getent group " + name,
			tasks: []map[string]any{task("ansible.builtin.group", map[string]any{"name": name, "state": "absent"})}}
	}
	config := d.some(map[string]any{"gid": 61000 + 10*d.slot + d.IntN(3), "system": d.chance(2)})
	config["name"] = name
	j := judged{config: config, tasks: []map[string]any{task("ansible.builtin.group", config)}, check: "getent group " + name}
	if config["gid"] == nil {
		j.check += numberRange
	}
	if d.round == 0 {
		j.before = d.one(":", "groupadd "+name, fmt.Sprintf("groupadd -g %d %s; usermod -aG %s games", 61009+10*d.slot, name, name))
	}
	return j
}

// By design: a user of the system has no home with deployster unless it is given, and that one is empty; and the home of
// a user who exists is not managed unless it is given.
func judgedUser(d draw) judged {
	name := fmt.Sprintf("judgedu%d", d.slot)
	j := judged{check: fmt.Sprintf(`getent passwd %[1]s | cut -d: -f1,5-
id -gn %[1]s; id -Gn %[1]s | tr ' ' '\n' | sort
getent shadow %[1]s | cut -d: -f1,2,8
getent group %[1]s | cut -d: -f1,4
find /home/%[1]s /srv/home/%[1]s -printf '%%p %%y %%m %%U %%G %%s\n' 2>/dev/null | sort |
awk -v uid="$(id -u %[1]s 2>&1)" -v gid="$(id -g %[1]s 2>&1)" '{ $4 = $4 == uid ? "own" : $4 > 61999 ? $4 : "other"
$5 = $5 == gid ? "own" : $5 < 100 ? $5 : "other"; print }'
getent passwd %[1]s | cut -d: -f1-3`, name)}
	if d.absent() {
		// A home that was made for a former number of the user belongs to nobody, on both machines: the round before has
		// compared it. TestUser_HomeOfAFormerNumberIsRefused has what the two make of it.
		j.before = fmt.Sprintf(`home=$(getent passwd %[1]s | cut -d: -f6)
for h in /home/%[1]s /srv/home/%[1]s; do [ "$h" = "$home" ] || rm -rf "$h"; done; [ ! -d "$home" ] || chown %[1]s "$home"`, name)
		j.tasks = []map[string]any{task("ansible.builtin.user", map[string]any{"name": name, "state": "absent", "remove": true})}
		return j
	}
	day := time.Date(2030+d.IntN(5), time.Month(1+d.IntN(12)), 1+d.IntN(28), 0, 0, 0, 0, time.UTC)
	config := d.some(map[string]any{"uid": 62000 + 10*d.slot + d.IntN(3), "group": d.one("users", "games", "www-data"),
		"groups": []string{d.one("adm", "audio"), d.one("video", "cdrom")}, "home": d.one("/home/", "/srv/home/") + name,
		"shell": d.one("/bin/bash", "/bin/sh", "/usr/sbin/nologin"), "comment": d.one("", "A Name", "Ümläut, Room 7"),
		"password_hash": d.one("*", "!", "$6$salt$abcdefghijklmnopqrstuvwxyz./0123456789"),
		"expires":       day.Format(time.DateOnly)})
	args := maps.Clone(config)
	if hash, has := args["password_hash"]; has {
		args["password"] = hash
		delete(args, "password_hash")
	}
	if config["expires"] != nil {
		if d.chance(3) {
			config["expires"], args["expires"] = "never", -1
		} else {
			args["expires"] = day.Unix()
		}
	}
	if config["groups"] != nil {
		inclusive := d.chance(2)
		args["append"] = !inclusive
		if inclusive {
			config["membership"] = "inclusive"
		}
	}
	if !d.had { // By design: a new user gets the group of its name if there is one, and with Ansible the group users
		j.before = "getent passwd " + name + " || groupdel " + name
	}
	if d.round == 0 {
		j.before = d.one("", "useradd -M -s /bin/false -G audio,plugdev "+name, "useradd -m -c Old -e 2029-01-01 -g users "+name)
	}
	system, exists := d.slot%4 == 3, d.had || strings.HasPrefix(j.before, "useradd")
	if system {
		config["system"], args["system"] = true, true
		if !exists { // useradd ignores it for such a user, and so does Ansible
			delete(config, "expires")
			delete(args, "expires")
		}
		j.check = strings.ReplaceAll(j.check, "-printf '%p %y %m %U %G %s", "-maxdepth 0 -printf '%p %y - %U %G")
	}
	if config["home"] == nil && (system || exists) {
		args["create_home"] = false
	}
	if config["uid"] == nil {
		j.check += numberRange
	}
	args["name"] = name
	j.config = with(config, map[string]any{"name": name, "remove_home": true})
	j.tasks = []map[string]any{task("ansible.builtin.user", args)}
	return j
}

// The comments differ. A variable is a task of its own in Ansible, and deployster's file has no others.
func judgedCron(d draw) judged {
	name := fmt.Sprintf("judgedc%d", d.slot)
	path := "/etc/cron.d/" + name
	j := judged{check: "find " + path + " -printf '%p %m %u %g\\n'; grep -v '^#' " + path}
	if d.absent() {
		j.tasks = []map[string]any{task("ansible.builtin.file", map[string]any{"path": path, "state": "absent"})}
		return j
	}
	user := d.one("root", "daemon", "nobody")
	command := d.one("true", "date +%F >/dev/null", "echo 'a  b' \"c\" # d", "cd / && ls | wc -l", "printf '%s%%'")
	args := map[string]any{"name": "judged", "cron_file": name, "user": user, "job": strings.ReplaceAll(command, "%", `\%`)}
	config := map[string]any{"name": name, "user": user, "command": command}
	if d.chance(3) {
		special := d.one("daily", "hourly", "weekly", "monthly", "reboot")
		config["schedule"], args["special_time"] = "@"+special, special
	} else {
		fields := []string{d.one("*", "*/5", "0", "1,31", "10-20/2"), d.one("*", "3", "1-5"), d.one("*", "1", "*/7"), d.one("*", "2", "jan"),
			d.one("*", "0", "1-5", "mon")}
		config["schedule"] = strings.Join(fields, " ")
		for i, key := range []string{"minute", "hour", "day", "month", "weekday"} {
			args[key] = fields[i]
		}
	}
	j.config, j.tasks = config, []map[string]any{task("ansible.builtin.cron", args)}
	if d.slot%2 == 0 {
		value := d.one("x", "a b", "it's", "")
		config["env"] = map[string]any{"JUDGED": value}
		j.tasks = append(j.tasks, task("ansible.builtin.cron",
			map[string]any{"name": "JUDGED", "env": true, "value": value, "cron_file": name, "user": user}))
	}
	return j
}

func judgedService(d draw) judged {
	name := fmt.Sprintf("judgeds%d", d.slot)
	unit := "[Service]\n" + []string{"ExecStart=/bin/sleep infinity", "Type=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true",
		"ExecStart=/bin/sleep infinity\nExecReload=/bin/true"}[d.slot%3]
	possible := map[string]any{"running": d.chance(2)}
	if d.slot != 7 { // it is static
		unit += "\n[Install]\nWantedBy=multi-user.target"
		possible["enabled"] = d.chance(2)
	}
	j := judged{check: "systemctl show -p ActiveState,SubState,UnitFileState,NeedDaemonReload,Result " + name +
		"; systemctl is-enabled " + name + "; ls -l /etc/systemd/system/*.wants/" + name + "* | sed 's/.* -> /-> /'"}
	if d.round == 0 {
		j.before = fmt.Sprintf("printf '%%s\\n' '%s' >/etc/systemd/system/%s.service; ", unit, name)
	}
	j.before += "systemctl " + d.one("start ", "stop ", "enable ", "disable ", "enable --now ") + name
	config := d.some(possible)
	if len(config) == 0 {
		config["running"] = true
	}
	args := map[string]any{"name": name}
	if running, has := config["running"]; has {
		args["state"] = map[any]string{true: "started", false: "stopped"}[running]
	}
	if enabled, has := config["enabled"]; has {
		args["enabled"] = enabled
	}
	j.config = with(config, map[string]any{"name": name})
	j.tasks = []map[string]any{task("ansible.builtin.systemd", args)}
	return j
}

// judgedRepository makes the packages that are judged, each in two versions, with what each needs and recommends.
func judgedRepository() string {
	return fmt.Sprintf(`set -eu
mkdir -p /srv/repository && cd /srv/repository
make_package() { # NAME VERSION FIELDS
	mkdir -p tree/DEBIAN tree/etc/judged
	printf 'Package: %%s\nVersion: %%s\nArchitecture: all\nMaintainer: N <n@example.org>\n' "$1" "$2" >tree/DEBIAN/control
	printf 'Description: t\n%%s' "$3" >>tree/DEBIAN/control
	echo "/etc/judged/$1" >tree/DEBIAN/conffiles
	echo "$2" >"tree/etc/judged/$1"
	dpkg-deb --build -Znone --root-owner-group tree "$1-$2.deb" >/dev/null
	rm -r tree
	dpkg-deb -f "$1-$2.deb"
	printf 'Filename: ./%%s.deb\nSize: %%s\nSHA256: %%s\n\n' "$1-$2" "$(stat -c %%s "$1-$2.deb")" "$(sha256sum "$1-$2.deb" | cut -d' ' -f1)"
}
for i in $(seq 0 %d); do
	make_package judgedneeded$i 1.0 ''
	make_package judgedextra$i 1.0 ''
	for version in 1.0 1.1 2.0; do
		make_package judgedp$i $version "Depends: judgedneeded$i
Recommends: judgedextra$i
"
	done
done >Packages
echo 'deb [trusted=yes] copy:/srv/repository ./' >/etc/apt/sources.list.d/judged.list
apt-get update
mkdir -p /var/lib/apt/periodic
touch /var/lib/apt/periodic/update-success-stamp`, slots-1)
}

func judgedPackage(d draw) judged {
	name := fmt.Sprintf("judgedp%d", d.slot)
	held, purge := d.slot%2 == 0, d.slot%4 == 1
	j := judged{check: fmt.Sprintf("dpkg -l '*%d' | grep judged; apt-mark showmanual | grep judged.*%[1]d; ls /etc/judged/*%[1]d", d.slot)}
	if !held && d.absent() {
		j.tasks = []map[string]any{task("ansible.builtin.apt", map[string]any{"name": name, "state": "absent", "purge": purge})}
		return j
	}
	pattern := "1.*"
	if d.had || d.round == 0 { // 1.0 may be installed, which matches: it stays, and Ansible installs a newer one
		pattern = "1.1*"
	}
	config := d.some(map[string]any{"version": d.one("1.0", "1.1", "2.0", pattern), "recommends": d.chance(2)})
	config["name"] = name
	args := map[string]any{"name": name, "allow_downgrade": true, "allow_change_held_packages": true}
	if version, has := config["version"]; has {
		args["name"] = fmt.Sprint(name, "=", version)
	}
	if recommends, has := config["recommends"]; has {
		args["install_recommends"] = recommends
	}
	j.tasks = []map[string]any{task("ansible.builtin.apt", args)}
	if held {
		hold := d.chance(2)
		config["hold"] = hold
		j.tasks = append(j.tasks, task("ansible.builtin.dpkg_selections",
			map[string]any{"name": name, "selection": map[bool]string{true: "hold", false: "install"}[hold]}))
	}
	if purge {
		config["purge"] = true
	}
	if d.round == 0 {
		deb := fmt.Sprintf("dpkg -i /srv/repository/judgedneeded%d-1.0.deb /srv/repository/%s-1.0.deb >/dev/null", d.slot, name)
		j.before = d.one(":", deb, deb+"; dpkg -r "+name+" >/dev/null")
		if held {
			j.before += "; apt-mark " + d.one("hold ", "unhold ") + name + " >/dev/null"
		}
	}
	j.config = config
	return j
}

// Each has the value at boot in a file of its own: what counts is the last of all files.
func judgedSysctl(d draw) judged {
	key := []string{"kernel.domainname", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.shmmni", "kernel.sem", "fs.mqueue.msg_max",
		"fs.mqueue.queues_max"}[d.slot]
	j := judged{check: fmt.Sprintf(`sysctl -n %s; cat $(ls /etc/sysctl.d/*.conf | grep -v README) /etc/sysctl.conf | tr '/' . |
sed -n 's/^ *%[1]s *= *//p' | tr -s ' \t' '  ' | tail -n 1`, key)}
	if d.absent() { // without drift: each task of Ansible loads all of its file, and what it has not removed yet
		j.tasks = []map[string]any{task("ansible.posix.sysctl", map[string]any{"name": key, "state": "absent"})}
		return j
	}
	if d.round == 0 || d.chance(4) {
		j.before = d.one(":", fmt.Sprintf("echo %s = 77 >/etc/sysctl.d/50-judged%d.conf", key, d.slot))
		j.before += fmt.Sprintf("; sysctl -w %s=%d", key, 100+d.IntN(9))
	}
	value := fmt.Sprint(64 + d.IntN(200))
	switch key {
	case "kernel.domainname":
		value = d.one("example", "site.example", "a-b.example", "(none)")
	case "kernel.sem":
		value = fmt.Sprintf("250%s32000%s100%s%d", d.one(" ", "  "), d.one(" ", "\t"), d.one(" ", " \t "), 100+d.IntN(20))
	}
	j.config = map[string]any{"key": key, "value": value}
	j.tasks = []map[string]any{task("ansible.posix.sysctl", map[string]any{"name": key, "value": value, "sysctl_set": true})}
	return j
}
