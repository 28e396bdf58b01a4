//go:build machines

package systemd

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"deployster/machine/internal/kindtest"
	"deployster/protocol"
)

func inMachine(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func isValid(t *testing.T, r *kindtest.Resource, c config) {
	t.Helper()
	if a := r.State(c); a.Status != protocol.Valid {
		t.Errorf("%v: %+v", c, a)
	}
}

// disk returns a loop device with a file system; a machine has no disks of its own. The kernel is that of all machines, and
// keeps a device after the machine has ended: so it is detached at once, which counts when nothing has it open or
// mounted any more, whatever becomes of this test.
func disk(t *testing.T) string {
	t.Helper()
	device := inMachine(t, `set -e; test -e /dev/loop-control || mknod /dev/loop-control c 10 237
image=$(mktemp /srv/disk.XXXXXX); truncate -s 16M $image
n=$(losetup -f | tr -dc 0-9); test -e /dev/loop$n || mknod -m 660 /dev/loop$n b 7 $n
losetup /dev/loop$n $image; rm $image; mkfs.ext4 -q /dev/loop$n; echo /dev/loop$n`)
	kept, err := os.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	inMachine(t, "losetup -d "+device)
	t.Cleanup(func() {
		inMachine(t, "umount -A "+device+" 2>/dev/null || true")
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	return device
}

func TestMount_LiveAndBootAreTwoFacts(t *testing.T) {
	device := disk(t)
	r := kindtest.New(t, NewMount(here))
	c := config{"path": "/srv/a-b c", "source": device, "fstype": "ext4", "options": []string{"noexec"}}
	r.Apply(c)
	isValid(t, r, c)
	facts := func() string {
		return inMachine(t, `findmnt -no SOURCE,FSTYPE "/srv/a-b c"; systemctl is-enabled 'srv-a\x2db\x20c.mount' 2>/dev/null || true`)
	}
	if got := facts(); got != device+" ext4\nenabled" {
		t.Errorf("%s", got)
	}
	inMachine(t, "umount '/srv/a-b c'")
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/mounted" {
		t.Errorf("%+v", a.Reasons)
	}
	inMachine(t, `systemctl disable 'srv-a\x2db\x20c.mount'`)
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Path != "/boot" {
		t.Errorf("%+v", a.Reasons)
	}
	inMachine(t, "mount -o remount,ro,exec '/srv/a-b c'")
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "it is not mounted with noexec, rw" {
		t.Errorf("%+v", a.Reasons)
	}
	c["boot"], c["mounted"] = false, false
	r.Apply(c)
	if got := facts(); got != "disabled" {
		t.Errorf("%s", got)
	}
	c["boot"], c["mounted"] = true, true
	r.Apply(c)
	r.Destroy(c)
	if got := facts(); got != "" {
		t.Errorf("%s", got)
	}
	r.Destroy(c)
}

func TestMount_IsNeverStacked(t *testing.T) {
	first, second := disk(t), disk(t)
	r := kindtest.New(t, NewMount(here))
	r.Apply(config{"path": "/srv/one", "source": first})
	if a := r.Apply(config{"path": "/srv/one", "source": second, "options": []string{"ro"}}); len(a.Reasons) != 2 || a.Reasons[0].Path != "/source" {
		t.Errorf("%+v", a.Reasons)
	}
	if got := inMachine(t, "findmnt -no SOURCE /srv/one; findmnt -no OPTIONS /srv/one | cut -c1-2"); got != second+"\nro" {
		t.Errorf("%s", got)
	}
	inMachine(t, "mount "+first+" /srv/one")
	r.Fails(config{"path": "/srv/one", "source": second, "options": []string{"ro"}}, "config", "2 file systems are mounted on top of each other")
	inMachine(t, "umount /srv/one")
	r.Destroy(config{"path": "/srv/one", "source": second})
	inMachine(t, "mkdir -p /srv/theirs; mount -t tmpfs tmpfs /srv/theirs")
	defer inMachine(t, "umount /srv/theirs")
	theirs := kindtest.New(t, NewMount(here))
	theirs.Fails(config{"path": "/srv/theirs", "source": first}, "config", "/path", "tmpfs of type tmpfs is mounted at /srv/theirs by somebody else")
	theirs.Destroy(config{"path": "/srv/theirs", "source": first})
	if got := inMachine(t, "findmnt -no FSTYPE /srv/theirs"); got != "tmpfs" {
		t.Errorf("the mount of somebody else is %q", got)
	}
	inMachine(t, "mkdir -p /srv/full; touch /srv/full/x")
	if a := theirs.State(config{"path": "/srv/full", "source": first}); !strings.Contains(a.Reasons[0].Message, "is hidden") {
		t.Errorf("%+v", a.Reasons)
	}
	inMachine(t, "printf '%s\\n' '"+first+` /srv/f\040stab ext4 defaults 0 0' >>/etc/fstab`)
	defer inMachine(t, "sed -i /040stab/d /etc/fstab")
	theirs.Fails(config{"path": "/srv/f stab", "source": first}, "config", "/path", "/etc/fstab has an entry")
}

func TestMount_BusyNamesWhoUsesIt(t *testing.T) {
	device := disk(t)
	r := kindtest.New(t, NewMount(here))
	c := config{"path": "/srv/busy", "source": device}
	r.Apply(c)
	user := exec.Command("sleep", "1000")
	user.Dir = "/srv/busy"
	if err := user.Start(); err != nil {
		t.Fatal(err)
	}
	r.DestroyFails(c, "/srv/busy is busy, and is not unmounted: sleep", "cwd /srv/busy")
	isValid(t, r, c)
	_ = user.Process.Kill()
	_ = user.Wait()
	r.Destroy(c)
}

func TestMount_OtherKindsOfSources(t *testing.T) {
	inMachine(t, "mkdir -p /srv/from; touch /srv/from/x")
	bind := kindtest.New(t, NewMount(here))
	c := config{"path": "/srv/to", "source": "/srv/from", "options": []string{"bind"}}
	bind.Apply(c)
	isValid(t, bind, c)
	if _, err := os.Stat("/srv/to/x"); err != nil {
		t.Error(err)
	}
	if found := bind.Discover(config{"path": "/x", "source": "x"}); len(found) != 1 || found[0]["path"] != "/srv/to" {
		t.Errorf("%v", found)
	}
	bind.Destroy(c)
	memory := kindtest.New(t, NewMount(here))
	c = config{"path": "/srv/memory", "source": "tmpfs", "fstype": "tmpfs", "options": []string{"size=1m", "mode=0700"}}
	memory.Apply(c)
	events := memory.Watch(c)
	inMachine(t, "umount /srv/memory")
	select {
	case <-events:
	case <-time.After(5 * time.Second):
		t.Error("no event came")
	}
	memory.Apply(c)
	c["options"] = []string{"size=2m", "mode=0700"}
	memory.Apply(c)
	if got := inMachine(t, "findmnt -no OPTIONS /srv/memory"); !strings.Contains(got, "size=2048k") {
		t.Errorf("%s", got)
	}
	memory.Destroy(c)
	memory.Fails(config{"path": "/srv/memory", "source": "/dev/no-such", "fstype": "ext4"}, "srv-memory.mount")
	memory.Destroy(c)
}

func TestSwap_FileIsMadeUsedAndRemoved(t *testing.T) {
	device := disk(t) // the root of a machine is no file system that can hold swap
	at := kindtest.New(t, NewMount(here))
	mount := config{"path": "/srv/swap", "source": device}
	at.Apply(mount)
	r := kindtest.New(t, NewSwap(here))
	c := config{"path": "/srv/swap/file", "size": "2M", "priority": 5}
	r.Apply(c)
	isValid(t, r, c)
	facts := func() string {
		return inMachine(t, "awk '/srv.swap/ {print $1, $2, $5}' /proc/swaps; stat -c '%a %s' /srv/swap/file; systemctl is-enabled srv-swap-file.swap")
	}
	if got := facts(); got != "/srv/swap/file file 5\n600 2097152\nenabled" {
		t.Errorf("%s", got)
	}
	inMachine(t, "swapoff /srv/swap/file")
	if a := r.Apply(c); len(a.Reasons) != 1 || a.Reasons[0].Message != "the kernel does not swap to it" {
		t.Errorf("%+v", a.Reasons)
	}
	inMachine(t, "chmod 644 /srv/swap/file; systemctl disable srv-swap-file.swap")
	if a := r.Apply(c); len(a.Reasons) != 2 {
		t.Errorf("%+v", a.Reasons)
	}
	c["size"], c["priority"] = "3M", 6
	if a := r.Apply(c); len(a.Reasons) != 3 || a.Reasons[0].Path != "/size" {
		t.Errorf("%+v", a.Reasons)
	}
	if got := facts(); got != "/srv/swap/file file 6\n600 3145728\nenabled" {
		t.Errorf("%s", got)
	}
	r.Destroy(c)
	if got := inMachine(t, "cat /proc/swaps | grep -c srv; ls -A /srv/swap; ls /etc/systemd/system | grep -c swap$; true"); got != "0\nlost+found\n0" {
		t.Errorf("%s", got)
	}
	inMachine(t, "echo precious >/srv/swap/data")
	data := kindtest.New(t, NewSwap(here))
	data.Fails(config{"path": "/srv/swap/data", "size": "2M"}, "config", "/path", "exists and holds no swap")
	if got := inMachine(t, "cat /srv/swap/data"); got != "precious" {
		t.Errorf("%s", got)
	}
	at.Destroy(mount)
	data.Fails(config{"path": device}, "config", "/path", "exists and holds no swap")
	data.Fails(config{"path": device, "size": "2M"}, "config", "/size", "is a device")
}
