package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deployster/internal/testkit/machines"
	"deployster/machine/internal/access"
)

// site is a workspace that configures one machine by the real command.
type site struct {
	t       *testing.T
	machine *machines.Machine
	dir     string
}

// newSite boots a machine. The image is the one that `make build` has packed.
func newSite(t *testing.T) site {
	t.Helper()
	s := site{t, machines.Start(t), t.TempDir()}
	t.Cleanup(s.end)
	return s
}

// end waits until no process works in the directory.
func (s site) end() {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
		left := ""
		for _, file := range commands {
			if line, failed := os.ReadFile(file); failed == nil && strings.Contains(string(line), s.dir) {
				left = string(line)
			}
		}
		if err != nil || left == "" {
			return
		}
		if time.Now().After(deadline) {
			s.t.Errorf("%q is left", left)
			return
		}
	}
}

// command returns a run of deployster.
func (s site) command(args ...string) *exec.Cmd {
	s.t.Helper()
	bin, err := filepath.Abs("../bin")
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.Command(filepath.Join(bin, "deployster"), args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "DEPLOYSTER_DATA_DIR="+filepath.Join(s.dir, "data"), "DEPLOYSTER_IDLE_EXIT=2s", "DEPLOYSTER_KEEP=0s",
		"PATH="+bin+":"+os.Getenv("PATH"))
	return c
}

// run runs deployster, and returns what it printed.
func (s site) run(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("deployster %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// prints runs deployster, and wants texts in what it prints.
func (s site) prints(args []string, texts ...string) {
	s.t.Helper()
	out := s.run(args...)
	for _, text := range texts {
		if !strings.Contains(out, text) {
			s.t.Errorf("deployster %s does not print %q:\n%s", strings.Join(args, " "), text, out)
		}
	}
}

// holds runs a script in the machine, which prints what is to be compared.
func (s site) holds(script, want string) {
	s.t.Helper()
	if out, err := s.machine.Shell(script); err != nil || out != want {
		s.t.Errorf("%s\nprinted %q (%v), and should print %q", script, out, err, want)
	}
}

const manifest = `
variable "greeting" {
  type    = string
  default = "hello"
}
host "m" {
  address     = "NAME"
  ssh_options = ["-F", "SSH"]
}
type "machine" {
  image         = "deployster/machine"
  whole_machine = true
}
deployster {
  auto_edges = true
}
resource "directory" {
  host   = host.m
  type   = "${type.machine}#directory"
  config = { path = "/srv/app", mode = "0750", group = "adm" }
}
resource "file" {
  host   = host.m
  type   = "${type.machine}#file"
  config = { path = "/srv/app/greeting", content = "${var.greeting}\n", mode = "0640", owner = "daemon", validate = ["grep", "-q", "h", "%s"] }
}
resource "link" {
  host   = host.m
  type   = "${type.machine}#link"
  config = { path = "/srv/app/current", target = "greeting" }
}
resource "line" {
  host   = host.m
  type   = "${type.machine}#line"
  config = { path = "/etc/ssh/sshd_config", id = "x11", line = "X11Forwarding no", match = "^#?X11Forwarding\\b", validate = ["sshd", "-t", "-f", "%s"] }
}
resource "block" {
  host   = host.m
  type   = "${type.machine}#text_block"
  config = { path = "/etc/hosts", id = "cluster", content = "10.0.0.1 db\n" }
}
resource "sysctl" {
  host   = host.m
  type   = "${type.machine}#sysctl"
  config = { key = "kernel.domainname", value = "example" }
}
resource "exec" {
  host       = host.m
  depends_on = [resource.file]
  type       = "${type.machine}#exec"
  config     = { name = "copy", unless = "cmp -s /srv/app/greeting /srv/copy", command = "cp /srv/app/greeting /srv/copy", undo = "rm /srv/copy" }
}
resource "group" {
  host   = host.m
  type   = "${type.machine}#group"
  config = { name = "app", gid = 2000 }
}
resource "user" {
  host   = host.m
  type   = "${type.machine}#user"
  config = { name = "app", group = "app", shell = "/bin/bash", remove_home = true }
}
resource "key" {
  host   = host.m
  type   = "${type.machine}#ssh_key"
  config = { user = "app", key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1QGGcHyYwJkfSBzsGTMjoI7e8B1cXHEv2oDxO5sNyo" }
}
resource "source" {
  host   = host.m
  type   = "${type.machine}#apt_source"
  config = { name = "local", uris = ["copy:/srv/repository"], suites = ["./"], trusted = true }
}
resource "package" {
  for_each = toset(["hello", "hello-data"])
  host     = host.m
  type     = "${type.machine}#package"
  config   = { name = each.key, from = "local" }
}
resource "unit" {
  host   = host.m
  type   = "${type.machine}#unit"
  config = { name = "app", content = "[Service]\nUser=app\nExecStart=/bin/sleep 10000\n[Install]\nWantedBy=multi-user.target\n" }
}
resource "drop_in" {
  host   = host.m
  type   = "${type.machine}#drop_in"
  config = { unit = "app", name = "limits", sections = { Service = { LimitNOFILE = 4096 } } }
}
resource "service" {
  host       = host.m
  type       = "${type.machine}#service"
  depends_on = [resource.user]
  subscribe  = [resource.unit, resource.drop_in]
  config     = { name = "app", running = true, enabled = true }
}
resource "timer" {
  host   = host.m
  type   = "${type.machine}#timer"
  config = { name = "clean", command = ["/bin/true"], calendar = ["daily"] }
}
resource "ini" {
  host   = host.m
  type   = "${type.machine}#ini"
  config = { path = "/etc/app.ini", section = "app", key = "size", value = "10" }
}
resource "json" {
  host   = host.m
  type   = "${type.machine}#json"
  config = { path = "/etc/app.json", pointer = "/size", value = "10" }
}
resource "entry" {
  host   = host.m
  type   = "${type.machine}#hosts_entry"
  config = { name = "db.example", addresses = ["10.0.0.2"] }
}
resource "zone" {
  host   = host.m
  type   = "${type.machine}#timezone"
  config = { name = "Europe/Zurich" }
}
resource "mount" {
  host   = host.m
  type   = "${type.machine}#mount"
  config = { path = "/srv/mounted", source = "tmpfs", fstype = "tmpfs" }
}
resource "download" {
  host   = host.m
  type   = "${type.machine}#download"
  config = { path = "/srv/fetched", url = "SERVER/file", sha256 = "SUM1" }
}
resource "archive" {
  host   = host.m
  type   = "${type.machine}#archive"
  config = { path = "/opt/archive", url = "SERVER/archive.tar", sha256 = "SUM2" }
}
`

// elsewhere are kinds that need more than a small Debian has, or that change the kernel of this
// machine, too: `make test-machines` has them.
var elsewhere = []string{"certificate", "container", "cron", "git", "hostname", "kernel_module", "locale", "nftables", "postgres_database",
	"postgres_role", "sudoers", "swap", "tree"}

// served serves a file and an archive with that file, and puts them into a manifest.
func served(t *testing.T, manifest string) string {
	t.Helper()
	file := []byte("fetched\n")
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err := w.WriteHeader(&tar.Header{Name: "inside", Mode: 0o644, Size: int64(len(file))})
	if err == nil {
		_, err = w.Write(file)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		content := file
		if r.URL.Path != "/file" {
			content = archive.Bytes()
		}
		_, _ = out.Write(content) // a client that is gone has its reasons
	}))
	t.Cleanup(server.Close)
	return strings.NewReplacer("SERVER", server.URL, "SUM1", fmt.Sprintf("%x", sha256.Sum256(file)),
		"SUM2", fmt.Sprintf("%x", sha256.Sum256(archive.Bytes()))).Replace(manifest)
}

// repository makes two packages in the machine, which apt has no source of yet.
const repository = `set -eu
mkdir -p /srv/repository && cd /srv/repository && : >/etc/apt/sources.list
for p in hello hello-data; do
	mkdir -p tree/DEBIAN
	printf 'Package: %s\nVersion: 1.0\nArchitecture: all\nMaintainer: N <n@example.org>\nDescription: t\n' $p >tree/DEBIAN/control
	[ $p = hello-data ] || echo 'Depends: hello-data' >>tree/DEBIAN/control
	dpkg-deb --build -Znone --root-owner-group tree $p.deb >/dev/null
	rm -r tree
	dpkg-deb -f $p.deb
	printf 'Filename: ./%s.deb\nSize: %s\nSHA256: %s\n\n' $p "$(stat -c %s $p.deb)" "$(sha256sum $p.deb | cut -d' ' -f1)"
done >Packages
echo '[app]' >/etc/app.ini
echo '{}' >/etc/app.json
apt-get update`

// TestStandardTypes_ConfigureAMachine takes a Debian machine through the life of its resources: of
// each kind one, and two of one transaction.
func TestStandardTypes_ConfigureAMachine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	text := strings.NewReplacer("NAME", s.machine.Name, "SSH", s.machine.SSHFile()).Replace(served(t, manifest))
	if err := os.WriteFile(filepath.Join(s.dir, "main.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name := range kinds(&access.Machine{}) {
		if !strings.Contains(manifest, "#"+name+"\"") && !slices.Contains(elsewhere, name) {
			t.Errorf("nothing is of the kind %s", name)
		}
	}
	if _, err := s.machine.Shell(repository); err != nil {
		t.Fatal(err)
	}
	const seen = `stat -c '%n %a %U %G' /srv/app /srv/app/greeting; cat /srv/app/greeting /srv/copy; readlink /srv/app/current
grep -c '^X11Forwarding no$' /etc/ssh/sshd_config; grep -A1 BEGIN /etc/hosts; cat /proc/sys/kernel/domainname; ls /etc/sysctl.d | grep -c deployster
id app; cut -d' ' -f1 /home/app/.ssh/authorized_keys; dpkg-query -W hello hello-data
cat /etc/app.ini /etc/app.json; getent hosts db.example | cut -d' ' -f1; readlink /etc/localtime | grep -o Zurich
findmnt -no FSTYPE /srv/mounted; cat /srv/fetched /opt/archive/inside
systemctl is-active app clean.timer; systemctl is-enabled app; systemctl show -p User,LimitNOFILE --value app`
	want := "/srv/app 750 root adm\n/srv/app/greeting 640 daemon root\nhello\nhello\ngreeting\n1\n# BEGIN deployster cluster\n10.0.0.1 db\nexample\n1\n" +
		"uid=1000(app) gid=2000(app) groups=2000(app)\nssh-ed25519\nhello\t1.0\nhello-data\t1.0\n" +
		"[app]\nsize = 10\n{\n  \"size\": \"10\"\n}\n10.0.0.2\nZurich\ntmpfs\nfetched\nfetched\nactive\nactive\nenabled\n4096\napp"

	s.prints([]string{"plan"}, "to create", "whole machine")
	s.prints([]string{"apply", "-auto-approve"}, "Apply complete")
	s.holds(seen, want)
	s.prints([]string{"apply", "-auto-approve"}, "No changes")
	const drift = `chmod 777 /srv/app/greeting; echo by hand >/etc/hosts; rm /srv/app/current
sed -i 's/^X11Forwarding no/X11Forwarding yes/' /etc/ssh/sshd_config; echo other >/proc/sys/kernel/domainname
systemctl disable --now -q app clean.timer; rm /home/app/.ssh/authorized_keys; dpkg -r hello hello-data >/dev/null`
	if _, err := s.machine.Shell(drift); err != nil {
		t.Fatal(err)
	}
	s.run("apply", "-auto-approve")
	s.holds(seen, want)
	s.run("apply", "-auto-approve", "-var", "greeting=hi there")
	s.holds("cat /srv/app/greeting /srv/copy", "hi there\nhi there")
	s.run("destroy", "-auto-approve")
	s.holds("ls /srv; ls /etc/sysctl.d | grep -c deployster; grep -c '^X11Forwarding' /etc/ssh/sshd_config; cat /etc/hosts", "mounted\nrepository\n0\n0\nby hand")
	s.holds("getent passwd app; getent group app; dpkg -l | grep hello; ls -d /home/app /etc/systemd/system/app* /etc/apt/sources.list.d/* 2>/dev/null; true", "")
}
