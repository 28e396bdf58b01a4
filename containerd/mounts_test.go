package containerd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deployster/containerd/runfiles"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// mountable makes files and directories that tests grant.
func mountable(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"dir/sub", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"file": "a file", "dir/in": "in the directory", "dir/sub/deep": "below", "other/secret": "secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "file", "dirlink": "dir"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestMounts_ShowFilesOfTheHostAtTheirTargets gives containers files and directories of this host, at places
// that images make good or bad.
func TestMounts_ShowFilesOfTheHostAtTheirTargets(t *testing.T) {
	t.Parallel()
	o := embedded(t)
	r := open(t, o)
	src := busyboxDir(t, map[string]string{"file": "old", "dir/old": "old", "a/real/x": "x"})
	for name, to := range map[string]string{
		"out": "../../../../../../etc", "abs": "/etc/target", "toproc": "/proc", "tosys": "/sys/fs", "todev": "dev", "tofile": "file", "inproc": "/proc/self/attr", "loop": "loop", "a/link": "real",
	} {
		if err := os.Symlink(to, filepath.Join(src, name)); err != nil {
			t.Fatal(err)
		}
	}
	dgst := pack(t, r, imagestore.PackOptions{Dir: src, Entrypoint: []string{"/bin/sh", "-c"}}, nil)
	at := mountable(t)
	mount := func(source, target string) []runner.Mount {
		if !filepath.IsAbs(source) {
			source = filepath.Join(at, source)
		}
		return []runner.Mount{{Source: source, Target: target, Writable: true}}
	}
	flags := func(target string) string {
		return "while read a b c d m o rest; do [ $m = " + target + " ] && echo $o; done </proc/self/mountinfo"
	}
	for _, c := range []struct {
		name, script, want, fails string
		mounts                    []runner.Mount
	}{
		{name: "a new place", script: "cat /new/place/in", mounts: mount("dir", "/new/place"), want: "in the directory"},
		{name: "over a file", script: "cat /file", mounts: mount("file", "/file"), want: "a file"},
		{name: "over a directory", script: "ls /dir", mounts: mount("dir", "/dir"), want: "in\nsub"},
		{name: "with dots", script: "cat /x", mounts: mount("file", "/y/../../../x"), want: "a file"},
		{name: "nosuid and nodev", script: flags("/m"), mounts: mount("dir", "/m"), want: "rw,nosuid,nodev,relatime"},
		{name: "read-only", script: flags("/m"), mounts: []runner.Mount{{Source: filepath.Join(at, "dir"), Target: "/m"}}, want: "ro,nosuid,nodev,relatime"},
		{name: "one in the other", script: "cat /m/in /m/sub/secret", mounts: append(mount("other", "/m/sub"), mount("dir", "/m")...), want: "in the directorysecret"},
		{name: "private", script: "grep -c -E 'shared:|master:|propagate' /proc/self/mountinfo", mounts: mount("dir", "/m"), want: "0"},
		// Links of the image lead nowhere but into the image.
		{name: "a link out of the image", script: "cat /etc/in; ls -d /etc/passwd", mounts: mount("dir", "/out"), want: "in the directory"},
		{name: "an absolute link", script: "cat /etc/target", mounts: mount("file", "/abs"), want: "a file"},
		{name: "below a link", script: "cat /a/real/new", mounts: mount("file", "/a/link/new"), want: "a file"},
		{name: "a link to itself", mounts: mount("dir", "/loop"), fails: "Mount path not usable"},
		// The kernel's files are nobody's place.
		{name: "root", mounts: mount("dir", "/"), fails: "over the kernel's own files"},
		{name: "root in disguise", mounts: mount("dir", "/x/.."), fails: "over the kernel's own files"},
		{name: "proc", mounts: mount("dir", "/proc"), fails: "over the kernel's own files"},
		{name: "below sys", mounts: mount("dir", "/sys/fs/../kernel"), fails: "over the kernel's own files"},
		{name: "dev", mounts: mount("file", "/dev/null"), fails: "over the kernel's own files"},
		{name: "a link to proc", mounts: mount("dir", "/toproc"), fails: "a link to /proc"},
		{name: "a link below proc", mounts: mount("dir", "/inproc"), fails: "a link to /proc"},
		{name: "a link to sys", mounts: mount("dir", "/tosys"), fails: "a link to /sys/fs"},
		{name: "a link to dev", mounts: mount("dir", "/todev"), fails: "a link to /dev"},
		{name: "below a link to dev", mounts: mount("file", "/todev/null"), fails: "a link to /dev/null"},
		// Kinds.
		{name: "a file over a directory", mounts: mount("file", "/dir"), fails: "A file and a directory cannot be mounted on each other"},
		{name: "a directory over a file", mounts: mount("dir", "/file"), fails: "A file and a directory cannot be mounted on each other"},
		{name: "a directory over a link to a file", mounts: mount("dir", "/tofile"), fails: "A file and a directory cannot be mounted on each other"},
		// Sources.
		{name: "not there", mounts: mount("nothing", "/x"), fails: "A plug's file or directory does not exist"},
		{name: "has become a link", mounts: mount("link", "/x"), fails: "has become a symbolic link"},
		{name: "goes through a link", mounts: mount("dirlink/in", "/x"), fails: "has become a symbolic link"},
		{name: "the whole host", mounts: mount("/", "/host"), fails: "is the whole host"},
		{name: "the kernel's", mounts: mount("/proc/sys", "/x"), fails: "belongs to its kernel"},
		{name: "the images", mounts: mount(filepath.Join(o.DataDir, "containerd"), "/x"), fails: "images and sockets of deployster itself"},
		{name: "what holds the sockets", mounts: mount("/run", "/x"), fails: "images and sockets of deployster itself"},
		{name: "relative", mounts: []runner.Mount{{Source: "dir", Target: "/x"}}, fails: "not an absolute path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			res, err := r.Run(context.Background(), runner.Spec{Name: c.name, Kind: runner.Query, Digest: dgst, Args: []string{"cd /; " + c.script}, Mounts: c.mounts, Settings: runner.Settings{Network: runner.NoNetwork}, Timeout: time.Minute})
			if c.fails != "" {
				if !isDiagnostic(err) || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("got %v, want %q (stdout %q)", err, c.fails, res.Stdout)
				}
				return
			}
			if got := strings.TrimSpace(string(res.Stdout)); err != nil || got != c.want {
				t.Errorf("got %q, want %q (stderr %q, error %v)", got, c.want, res.Stderr, err)
			}
		})
	}
}

// TestMounts_AnExchangedSourceIsRefused puts something else in the place of what is granted,
// after it was checked and before it is mounted.
func TestMounts_AnExchangedSourceIsRefused(t *testing.T) {
	t.Parallel()
	r := open(t, embedded(t))
	dgst := pack(t, r, imagestore.PackOptions{Entrypoint: []string{"/bin/sh", "-c"}}, nil)
	for name, exchange := range map[string]func(at string) error{
		"by a link":          func(at string) error { return os.Symlink("other", filepath.Join(at, "dir")) },
		"by a directory":     func(at string) error { return os.Rename(filepath.Join(at, "other"), filepath.Join(at, "dir")) },
		"by a link above it": func(at string) error { return os.Symlink(filepath.Join(at, "other"), filepath.Join(at, "dir")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := mountable(t)
			if err := os.Mkdir(filepath.Join(at, "other", "sub"), 0o755); err != nil {
				t.Fatal(err)
			}
			source := filepath.Join(at, "dir")
			if strings.HasSuffix(name, "above it") {
				source = filepath.Join(source, "sub")
			}
			ctx := context.Background()
			s := runner.Spec{Name: name, Kind: runner.Action, Digest: dgst, Args: []string{"cat /x/secret"}, Mounts: []runner.Mount{{Source: source, Target: "/x"}}}
			p, err := r.Images.PrepareFor(r.conn.Context(ctx), s)
			if err != nil {
				t.Fatal(err)
			}
			u := &container{r: r, spec: s, image: p, id: r.conn.NewContainerID()}
			if u.box, err = r.sandboxes.Make(u.id, p.Program, s); err != nil {
				t.Fatal(err)
			}
			defer u.box.Close()
			if err := errors.Join(os.Rename(filepath.Join(at, "dir"), filepath.Join(at, "gone")), exchange(at)); err != nil {
				t.Fatal(err)
			}
			if u.files, err = runfiles.New(r.conn.Config.RuntimeDir, u.id, s); err != nil {
				t.Fatal(err)
			}
			res, err := u.run(ctx, u, nil)
			if !isDiagnostic(err) || !strings.Contains(err.Error(), "Something else was mounted") || len(res.Stdout) > 0 {
				t.Errorf("got %+v, %v", res, err)
			}
		})
	}
}
