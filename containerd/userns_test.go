package containerd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"deployster/internal/base/proc"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// ownerOf returns the uid of a process with an argument, -1 if there is none.
func ownerOf(arg string) int {
	files, _ := proc.Files("cmdline")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || !strings.HasPrefix(string(b), "sleep\x00"+arg+"\x00") {
			continue
		}
		var st syscall.Stat_t
		if syscall.Stat(filepath.Dir(f), &st) == nil {
			return int(st.Uid)
		}
	}
	return -1
}

// TestUserNamespace_MapsRootToAnotherUser shows what a container with users of its own is on this
// host, and what it leaves there.
func TestUserNamespace_MapsRootToAnotherUser(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}}, map[string]string{"etc/passwd": "app:x:1234:1234::/:/bin/sh\n"})
	dir := t.TempDir()
	mine, roots := filepath.Join(dir, "mine"), filepath.Join(dir, "roots")
	for _, d := range []string{mine, roots} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(mine, 5000, 5001); err != nil {
		t.Fatal(err)
	}
	for name, owner := range map[string]int{"root": 0, "owner": 5000, "other": 77} {
		file := filepath.Join(mine, name)
		if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(file, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	writable := []runner.Mount{{Source: mine, Target: "/mine", Writable: true}, {Source: roots, Target: "/roots", Writable: true}}
	for _, c := range []struct {
		name, script, want string
		settings           runner.Settings
		mounts             []runner.Mount
	}{
		{name: "inside", script: "id -u; id -g; tr -s ' ' </proc/self/uid_map; grep -E '^(Seccomp|NoNewPrivs|CapEff):' /proc/self/status | tr -d '\\t\\n'", want: "0\n0\n 0 BASE 65536\nCapEff:00000000a00405fbNoNewPrivs:1Seccomp:2"},
		{name: "its own files", script: "touch /new && stat -c %u:%g /new /bin/busybox; echo ok >/dev/stderr && echo ok >/dev/stdout", want: "0:0\n0:0\nok"},
		{name: "no network", script: "ls /sys/class/net; touch /sys/x; head -c1 /proc/interrupts | wc -c", settings: runner.Settings{Network: runner.NoNetwork}, want: "lo\n0"},
		{name: "the host's network", script: "ls /sys/class/net | wc -l >/dev/null && ls /sys/kernel /sys/fs /sys/firmware; cat /etc/resolv.conf | wc -c; touch /sys/x; ip link set lo mtu 65535; echo $?", want: fmt.Sprintf("/sys/firmware:\n\n/sys/fs:\n\n/sys/kernel:\n%d\n2", len(hostFile(t, "/etc/resolv.conf")))},
		{name: "plugs", script: "cd /mine; stat -c %u:%g . root owner other; cat owner; cat root; echo x >made; mkdir dir; echo y >/roots/made; chown 12:13 dir; chown 5000 dir || echo none may be root", mounts: writable,
			want: "0:0\n65534:65534\n0:5000\n77:77\nownernone may be root"},
		{name: "another user", script: "cd /mine; stat -c %u:%g . owner root; id -u; echo z >app; cat owner", settings: runner.Settings{User: "app"}, mounts: writable, want: "1234:1234\n1234:5000\n65534:65534\n1234\nowner"},
		{name: "read-only", script: "cat /mine/owner; echo z 2>/dev/null >/mine/x || echo refused", mounts: []runner.Mount{{Source: mine, Target: "/mine"}}, want: "ownerrefused"},
		{name: "one file", script: "cat /file; echo z >/file; stat -c %u /file", mounts: []runner.Mount{{Source: filepath.Join(mine, "owner"), Target: "/file", Writable: true}}, want: "owner0"},
		{name: "all capabilities", script: "mknod /disk b 7 0 2>/dev/null; echo $?; echo 1 2>/dev/null >/proc/sys/kernel/sysrq; echo $?; cd /proc/1 && ls root/bin/busybox",
			settings: runner.Settings{Capabilities: runner.Capabilities{Add: []string{"ALL"}}}, want: "1\n1\nroot/bin/busybox"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.settings.UserNS = runner.AutoUserNS
			res, err := r.Run(context.Background(), runner.Spec{Name: c.name, Kind: runner.Query, Digest: dgst, Args: []string{c.script}, Settings: c.settings, Mounts: c.mounts, Timeout: time.Minute})
			want := c.want
			if ids, _ := r.sandboxes.IDs(c.settings); ids != nil {
				want = strings.ReplaceAll(c.want, "BASE", fmt.Sprint(ids.UID))
			}
			if got := strings.TrimSpace(string(res.Stdout)); err != nil || got != want {
				t.Errorf("got %q, want %q (stderr %q, error %v)", got, want, res.Stderr, err)
			}
		})
	}
	t.Run("seen from the host", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = r.Run(ctx, runner.Spec{Name: "seen", Kind: runner.Query, Digest: dgst, Args: []string{"exec sleep 617.43"}, Settings: runner.Settings{UserNS: runner.AutoUserNS}})
		}()
		uid := -1
		eventually(t, "the program runs", func() bool { uid = ownerOf("617.43"); return uid >= 0 })
		ids, err := r.sandboxes.IDs(runner.Settings{UserNS: runner.AutoUserNS})
		if err != nil || uid != int(ids.UID) || uid == 0 {
			t.Errorf("its process belongs to %d, and root inside should be %+v (%v)", uid, ids, err)
		}
		cancel()
		<-done
	})
	t.Run("a file system that cannot map ids", func(t *testing.T) {
		ram := t.TempDir()
		if err := unix.Mount("ramfs", ram, "ramfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(ram, 0) })
		_, err := r.Run(context.Background(), runner.Spec{Name: "ram", Kind: runner.Query, Digest: dgst, Args: []string{"true"}, Settings: runner.Settings{UserNS: runner.AutoUserNS}, Mounts: []runner.Mount{{Source: ram, Target: "/ram"}}})
		if !isDiagnostic(err) || !strings.Contains(err.Error(), ram) || !strings.Contains(err.Error(), `userns = "auto"`) {
			t.Errorf("got %v", err)
		}
	})
	for file, want := range map[string]string{"mine/made": "5000:5001", "mine/dir": "12:13", "roots/made": "0:0", "mine/app": "5000:5001", "mine/owner": "5000:5000"} {
		var st syscall.Stat_t
		err := syscall.Stat(filepath.Join(dir, file), &st)
		if got := fmt.Sprintf("%d:%d", st.Uid, st.Gid); err != nil || got != want {
			t.Errorf("%s belongs to %s, want %s (%v)", file, got, want, err)
		}
	}
}
