package brought

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"deployster/machine/internal/access"
	"deployster/protocol"
)

// texts writes what is provided down.
func texts(list []protocol.Provided) (all []string) {
	for _, p := range list {
		all = append(all, strings.TrimPrefix(p.Kind, "linux/")+" "+p.ID)
	}
	return all
}

// A package brings its own directories, and not those of all.
func TestProvides_IsWhatThePackageBrought(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ files, want []string }{
		"nginx-common": {
			[]string{"/.", "/etc", "/etc/nginx", "/etc/nginx/conf.d", "/etc/nginx/nginx.conf", "/etc/default", "/etc/default/nginx", "/etc/init.d",
				"/etc/init.d/nginx", "/etc/logrotate.d", "/etc/logrotate.d/nginx", "/lib/systemd/system/nginx.service", "/usr", "/usr/share/doc/nginx",
				"/var", "/var/lib", "/var/lib/nginx", "/var/log", "/var/log/nginx"},
			[]string{"directory /etc/nginx", "directory /var/lib/nginx", "directory /var/log/nginx", "file /etc/default/nginx",
				"file /etc/init.d/nginx", "file /etc/logrotate.d/nginx", "service nginx"},
		},
		"rsyslog": {[]string{"/etc", "/etc/rsyslog.d", "/etc/rsyslog.conf", "/usr/lib/systemd/system/rsyslog.socket"},
			[]string{"directory /etc/rsyslog.d", "file /etc/rsyslog.conf", "service rsyslog.socket"}},
		"sudo": {[]string{"/etc/sudoers.d/README", "/etc/pam.d/sudo", "/lib/systemd/system/sudo@.service"},
			[]string{"directory /etc/sudoers.d", "file /etc/pam.d/sudo"}},
		"none": {[]string{"/.", "/usr/bin/none", "/etc", "/var/lib", ""}, nil},
	} {
		got := texts(provided(name, c.files, func(at string) bool { return at == "/etc/rsyslog.d" || strings.HasPrefix(at, "/var/") }))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestProvides_HasALimit(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 2 * protocol.MaxProvides {
		files = append(files, fmt.Sprintf("/etc/cron.d/%d", i))
	}
	if got := provided("many", files, func(string) bool { return false }); len(got) != protocol.MaxProvides {
		t.Errorf("it provides %d", len(got))
	}
}

// What is not installed has what packages of its name have by convention, or what it had brought.
func TestProvides_BeforeItIsInstalled(t *testing.T) {
	t.Parallel()
	got := texts(Customary("redis-server"))
	for _, want := range []string{"directory /etc/redis-server", "directory /etc/redis", "file /etc/default/redis", "directory /var/lib/redis"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing: %q", want, got)
		}
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, infoDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, infoDir, "left:amd64.list"), []byte("/etc/what\n/etc/what/it-left\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &access.Machine{Root: root}
	if got := texts(By(m, "left", "amd64")); !slices.Equal(got, []string{"directory /etc/what"}) {
		t.Errorf("left behind: %q", got)
	}
	if got := By(m, "other", "amd64"); got != nil {
		t.Errorf("another one: %q", texts(got))
	}
}
