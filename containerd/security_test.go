package containerd

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/core/leases"
	"golang.org/x/sys/unix"

	"deployster/containerd/layout"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// collectGarbage makes containerd remove what nothing refers to.
func collectGarbage(t testing.TB, r *Runtime) {
	t.Helper()
	ctx := r.conn.Context(context.Background())
	l, err := r.conn.Client.LeasesService().Create(ctx, leases.WithRandomID())
	if err == nil {
		err = r.conn.Client.LeasesService().Delete(ctx, l, leases.SynchronousDelete)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestConfinement_HidesAndDeniesTheHost(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}, User: "app"}, map[string]string{
		"etc/passwd": "root:x:0:0::/root:/bin/sh\napp:x:1234:2345::/home/app:/bin/sh\n",
		"etc/group":  "root:x:0:\napp:x:2345:\nmore:x:3456:other,app\n",
	})
	root := pack(t, r, imagestore.PackOptions{Reference: "test/root", Entrypoint: []string{"/bin/sh", "-c"}}, map[string]string{"x32": string(executableFile([]byte{
		0xb8, 0x27, 0, 0, 0x40, // mov eax, 0x40000000 + 39: getpid, the third way
		0x0f, 0x05, // syscall
		0x31, 0xff, // xor edi, edi: all is well
		0xb8, 0x3c, 0, 0, 0, // mov eax, 60: exit
		0x0f, 0x05, // syscall
	}))})
	sub := t.TempDir()
	if err := os.Mkdir(filepath.Join(sub, "inner"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", filepath.Join(sub, "inner"), "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(filepath.Join(sub, "inner"), 0) })

	none := runner.Settings{Network: runner.NoNetwork}
	for _, c := range []struct {
		name, script, want string
		image              string
		settings           runner.Settings
		mounts             []runner.Mount
	}{
		{name: "status", script: "grep -E '^(Seccomp|NoNewPrivs|CapEff|CapBnd):' /proc/self/status | tr -d '\\t\\n'", want: "CapEff:00000000a00405fbCapBnd:00000000a00405fbNoNewPrivs:1Seccomp:2"},
		{name: "user and groups", image: dgst, script: "id -u; id -g; id -G; grep CapEff /proc/self/status", want: "1234\n2345\n2345 3456\nCapEff:\t0000000000000000"},
		{name: "outputs are the user's own", image: dgst, script: "echo ok >/dev/stdout", want: "ok"},
		{name: "masked", script: "ls /sys/firmware; head -c1 /proc/interrupts | wc -c; head -c1 /proc/timer_list | wc -c", want: "0\n0"},
		{name: "read-only proc", script: "echo 1 >/proc/sys/vm/swappiness; echo $?", want: "1"},
		{name: "no devices", script: "mknod /disk b 7 0; echo $?; ls /dev/kmsg /dev/mem; echo $?", want: "1\n1"},
		{name: "mount is forbidden", script: "mount -t tmpfs x /tmp; echo $?", want: "1"},
		{name: "no x32", script: "/x32; echo $?", want: "159"}, // 128 + SIGSYS
		{name: "first process", script: "echo $$", want: "1"},
		{name: "empty network", script: "grep -c : /proc/net/dev; wc -l </proc/net/route; ls /etc/resolv.conf; echo $?", settings: none, want: "1\n1\n1"},
		{name: "pids", script: "cat /proc/self/cgroup | grep -c nothing; " + manySleeps, settings: runner.Settings{PIDs: 4}, want: "0"},
		{name: "writable files", script: "touch /new && echo ok", want: "ok"},
		{name: "read-only files", script: "touch /new 2>/dev/null; echo $?", settings: runner.Settings{ReadOnlyRootFS: true}, want: "1"},
		{name: "read-only with what is below", script: "touch /m/a; touch /m/inner/a; ls /m/inner/a", mounts: []runner.Mount{{Source: sub, Target: "/m"}}, want: ""},
		{name: "writable with what is below", script: "touch /m/inner/x && ls /m/inner", mounts: []runner.Mount{{Source: sub, Target: "/m", Writable: true}}, want: "x"},
		{name: "host's names", script: "touch /etc/hosts 2>/dev/null; echo $?; cat /etc/resolv.conf", want: "1\n" + hostFile(t, "/etc/resolv.conf")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.image == "" {
				c.image = root
			}
			res, err := r.Run(context.Background(), runner.Spec{Name: c.name, Kind: runner.Query, Digest: c.image, Args: []string{c.script}, Settings: c.settings, Mounts: c.mounts, Timeout: time.Minute})
			if got := strings.TrimSpace(string(res.Stdout)); err != nil || got != strings.TrimSpace(c.want) {
				t.Errorf("got %q, want %q (stderr %q, error %v)", got, c.want, res.Stderr, err)
			}
		})
	}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		res, err := r.Run(context.Background(), runner.Spec{Kind: runner.Action, Digest: root, Timeout: time.Minute,
			Args: []string{"dd if=/dev/zero of=/dev/null bs=200M count=1"}, Settings: runner.Settings{Memory: 32 << 20}})
		if err != nil || !res.OOM || res.ExitCode == 0 {
			t.Errorf("got %+v, %v", res, err)
		}
	})
}

func hostFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestHostileImages_AreRefusedOrHarmless(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	big := strings.Repeat("a:x:1:1::/:/\n", 1<<20/10)
	for name, c := range map[string]struct {
		config object
		files  map[string]string
		want   string // in the error; "" = it can be imported and run
	}{
		"workdir in proc":     {object{"WorkingDir": "/proc/self/fd/7"}, nil, "working directory"},
		"hidden proc workdir": {object{"WorkingDir": "/x/../proc//self/../1"}, nil, "working directory"},
		"user beyond":         {object{"User": "4294967296"}, nil, "user"},
		"user too big":        {object{"User": "2147483648"}, nil, "user"},
		"group too big":       {object{"User": "1:2147483648"}, nil, "user"},
		"unknown user":        {object{"User": "nobody-here"}, nil, "nobody-here"},
		"huge accounts":       {object{"User": "a"}, map[string]string{"etc/passwd": big}, "passwd"},
		"huge groups":         {object{"User": "1:a"}, map[string]string{"etc/group": big}, "group"},
		"label":               {object{"Labels": object{"containerd.io/restart.status": "running", "deployster.kind": "x"}}, nil, ""},
		"relative workdir":    {object{"WorkingDir": "some/where"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.config["Entrypoint"] = []string{"/bin/sleep", "0.5"}
			tag := "test/" + strings.ReplaceAll(name, " ", "-")
			list, err := r.Images.Import(context.Background(), bytes.NewReader(dockerArchive(t, tag, c.files, c.config)), noneElsewhere(t))
			if c.want != "" {
				if !isDiagnostic(err) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() { defer close(done); mustRun(t, r, list[0].Digest) }()
			seen := false
			for !seen {
				select {
				case <-done:
					t.Fatal("its container was never seen")
				default:
				}
				records, err := r.conn.Client.ContainerService().List(r.conn.Context(context.Background()), "image=="+list[0].Digest)
				if err != nil {
					t.Fatal(err)
				}
				for _, rec := range records {
					seen = true
					if len(rec.Labels) != 4 || rec.Labels[layout.LabelKind] != string(runner.Query) || rec.Labels[layout.LabelClient] != r.conn.ClientPath() {
						t.Errorf("the container's labels are %q", rec.Labels)
					}
				}
			}
			<-done
		})
	}
	t.Run("a symlink out of the image", func(t *testing.T) {
		t.Parallel()
		dir := busyboxDir(t, nil)
		if err := os.Mkdir(filepath.Join(dir, "etc"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/passwd", filepath.Join(dir, "etc/passwd")); err != nil {
			t.Fatal(err)
		}
		// The host's accounts must not count: there is a daemon, not in the image.
		if _, err := r.Images.Pack(context.Background(), imagestore.PackOptions{Reference: "test/link", Dir: dir, User: "daemon"}); !isDiagnostic(err) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("nothing to run", func(t *testing.T) {
		t.Parallel()
		dgst := pack(t, r, imagestore.PackOptions{Reference: "test/nothing"}, nil)
		if _, err := r.Run(context.Background(), runner.Spec{Kind: runner.Query, Digest: dgst}); !isDiagnostic(err) {
			t.Errorf("got %v", err)
		}
		for _, program := range []string{"/not/there", "nowhere", "/bin"} {
			_, err := r.Run(context.Background(), runner.Spec{Name: "x", Kind: runner.Action, Digest: dgst, Entrypoint: program})
			if !isDiagnostic(err) || !strings.Contains(err.Error(), "The image cannot run "+program) {
				t.Errorf("%s: got %v", program, err)
			}
		}
	})
}

// executableFile is machine code as a program: one header for the file, one for the
// only segment.
func executableFile(code []byte) []byte {
	const base, headers = 0x400000, 64 + 56
	var b []byte
	le := binary.LittleEndian
	b = append(b, 0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = le.AppendUint16(b, 2)  // an executable
	b = le.AppendUint16(b, 62) // for x86-64
	b = le.AppendUint32(b, 1)
	b = le.AppendUint64(b, base+headers) // where it begins
	b = le.AppendUint64(b, 64)           // the segment's header
	b = le.AppendUint64(b, 0)            // no sections
	b = le.AppendUint32(b, 0)
	for _, v := range []uint16{64, 56, 1, 0, 0, 0} { // sizes and numbers of headers
		b = le.AppendUint16(b, v)
	}
	size := uint64(headers + len(code))
	b = le.AppendUint32(b, 1)                                       // to be loaded
	b = le.AppendUint32(b, 5)                                       // to be read and executed
	for _, v := range []uint64{0, base, base, size, size, 0x1000} { // offset, addresses, sizes, alignment
		b = le.AppendUint64(b, v)
	}
	return append(b, code...)
}
