package brought

import (
	"os"
	"path"
	"slices"
	"strings"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

const infoDir = "/var/lib/dpkg/info" // has the list of files of each package, as dpkg -L prints it

// The kinds of what a package brings.
const (
	directoryKind = "linux/directory"
	fileKind      = "linux/file"
	serviceKind   = "linux/service"
)

// common are directories that many packages use. What is directly in them is of one package.
var common = map[string]bool{"/etc": true, "/etc/X11": true, "/etc/alternatives": true, "/etc/apt": true, "/etc/cron.daily": true,
	"/etc/cron.hourly": true, "/etc/cron.monthly": true, "/etc/cron.weekly": true, "/etc/dbus-1": true, "/etc/default": true,
	"/etc/kernel": true, "/etc/network": true, "/etc/opt": true, "/etc/security": true, "/etc/skel": true, "/etc/ssl": true,
	"/etc/ssl/certs": true, "/etc/systemd": true, "/etc/systemd/system": true, "/etc/systemd/user": true, "/etc/xdg": true, "/opt": true,
	"/srv": true, "/var": true, "/var/backups": true, "/var/cache": true, "/var/lib": true, "/var/lib/systemd": true, "/var/local": true,
	"/var/lock": true, "/var/log": true, "/var/mail": true, "/var/opt": true, "/var/run": true, "/var/spool": true, "/var/tmp": true}

// managed are the trees in which people manage files.
var managed = []string{"/etc/", "/var/", "/opt/", "/srv/"}

// units are the directories of the units that packages bring.
var units = []string{"/lib/systemd/system", "/usr/lib/systemd/system"}

// Customary returns what a package of a name brings by Debian's conventions.
func Customary(name string) (list []protocol.Provided) {
	for _, stem := range stems(name) {
		for _, at := range []string{"/etc/" + stem, "/etc/" + stem + ".d", "/var/lib/" + stem, "/var/log/" + stem} {
			list = append(list, protocol.Provided{Kind: directoryKind, ID: at})
		}
		for _, at := range []string{"/etc/" + stem + ".conf", "/etc/default/" + stem} {
			list = append(list, protocol.Provided{Kind: fileKind, ID: at})
		}
	}
	return list
}

// stems returns a name, and what it is without an ending such as -server.
func stems(name string) []string {
	for _, ending := range []string{"-common", "-server", "-daemon", "-core"} {
		if stem, ok := strings.CutSuffix(name, ending); ok && stem != "" {
			return []string{name, stem}
		}
	}
	return []string{name}
}

// By reads what a package has brought; nil = dpkg has no list of it.
func By(m *access.Machine, name, arch string) []protocol.Provided {
	for _, file := range []string{name, name + ":" + arch} {
		text, err := os.ReadFile(m.Path(infoDir + "/" + file + ".list"))
		if err == nil {
			return provided(name, strings.Split(string(text), "\n"), func(at string) bool {
				info, err := os.Stat(m.Path(at))
				return err == nil && info.IsDir()
			})
		}
	}
	return nil
}

// provided returns what a list of files has: the highest directories that are the package's own, the files
// in directories of all, and the services.
func provided(name string, files []string, isDir func(at string) bool) (list []protocol.Provided) {
	seen, above := map[string]bool{}, map[string]bool{}
	for _, at := range files {
		above[path.Dir(at)] = true
	}
	for _, at := range files {
		if unit := unitOf(at); unit != "" {
			list = append(list, protocol.Provided{Kind: serviceKind, ID: unit})
		}
		own := highest(name, at)
		if own == "" || seen[own] || len(list) >= protocol.MaxProvides {
			continue
		}
		seen[own] = true
		kind := fileKind
		if own != at || above[own] || isDir(own) {
			kind = directoryKind
		}
		list = append(list, protocol.Provided{Kind: kind, ID: own})
	}
	slices.SortFunc(list, func(a, b protocol.Provided) int { return strings.Compare(a.Kind+a.ID, b.Kind+b.ID) })
	return slices.Compact(list)
}

// highest returns the highest part of a path that is of the package; "" = none is, or nobody would manage it.
func highest(name, at string) string {
	if !slices.ContainsFunc(managed, func(tree string) bool { return strings.HasPrefix(at, tree) }) {
		return ""
	}
	for i := 1; i <= len(at); i++ {
		if i < len(at) && at[i] != '/' {
			continue
		}
		part := at[:i]
		shared := common[part] || strings.HasSuffix(part, ".d") || strings.HasSuffix(part, ".wants")
		named := func(stem string) bool { return strings.HasPrefix(path.Base(part), stem) }
		if !shared || part != "/etc" && slices.ContainsFunc(stems(name), named) {
			return part
		}
	}
	return ""
}

// unitOf returns the name of a service, as its kind has it, for the file of a unit; "" = the file is of no service.
func unitOf(at string) string {
	if !slices.Contains(units, path.Dir(at)) || strings.Contains(at, "@.") {
		return ""
	}
	name := path.Base(at)
	switch path.Ext(name) {
	case ".service":
		return strings.TrimSuffix(name, ".service")
	case ".socket", ".timer", ".path":
		return name
	}
	return ""
}
