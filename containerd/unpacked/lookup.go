package unpacked

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/errdefs"
	securejoin "github.com/cyphar/filepath-securejoin"
	"github.com/moby/sys/user"
	"golang.org/x/sys/unix"

	"deployster/containerd/failure"
	"deployster/containerd/sandbox"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// lookups are the results of lookups in the files of an image.
type lookups struct {
	users  map[string]user.ExecUser // by the user's name or number as given
	places map[string]string        // resolved targets of mounts, by the target as given
	has    map[string]bool          // whether a path exists
}

// PrepareFor returns an image for an invocation: with the user from the settings, if one
// is set, by name or number as in docker, and with the targets of its mounts resolved.
func (x *Images) PrepareFor(ctx context.Context, s runner.Spec) (*Prepared, error) {
	p, err := x.prepare(ctx, s.Digest)
	if err != nil || s.Settings.User == "" && len(s.Mounts) == 0 {
		return p, err
	}
	e := x.cache.entry(p.Digest)
	e.mu.Lock()
	defer e.mu.Unlock()
	var users, places []string
	if _, known := e.lookups.users[s.Settings.User]; !known && s.Settings.User != "" {
		users = append(users, s.Settings.User)
	}
	for _, m := range s.Mounts {
		if _, known := e.lookups.places[m.Target]; !known && path.IsAbs(m.Target) {
			places = append(places, m.Target)
		}
	}
	if len(users)+len(places) > 0 {
		found, err := x.lookUp(ctx, p, e.lookups, users, places, nil)
		switch {
		case err == nil:
		case diag.Is[*diag.Diagnostic](err), len(users) == 0, errdefs.IsUnavailable(err):
			return nil, err // an unavailable containerd reports nothing about users
		default:
			return nil, diag.Errorf("The user of a type block is not in its image",
				"%s. The user of a type block can be a name that the image's /etc/passwd has, or a number, each also with a group: "+
					"\"1000\", \"app\", \"1000:1000\".", failure.Sentence(err))
		}
		e.lookups = found
		x.cache.save(p, found)
	}
	for _, m := range s.Mounts {
		if real := e.lookups.places[m.Target]; sandbox.KernelPath(real) {
			return nil, sandbox.ErrKernelTarget(m.Target, real)
		}
	}
	fit := *p
	if s.Settings.User != "" {
		fit.User = e.lookups.users[s.Settings.User]
	}
	return &fit, nil
}

// lookUp looks up users in the image's own files, as docker does, with the groups of
// each, and resolves the links in the image on the way to mount targets. It only reads
// the files, by paths that cannot lead out of the image, and only up to a size limit. check,
// if it is not nil, checks the files too.
func (x *Images) lookUp(ctx context.Context, p *Prepared, before lookups, users, places []string,
	check func(*os.Root, *Prepared) error) (after lookups, err error) {
	after = lookups{users: map[string]user.ExecUser{}, places: map[string]string{}}
	maps.Copy(after.users, before.users)
	maps.Copy(after.places, before.places)
	after.has = before.has
	if os.Geteuid() != 0 {
		// Mounting needs root; a user by number needs no files.
		return after, after.find("", "", users)
	}
	err = x.withFiles(ctx, p, func(dir string) error {
		for _, place := range places {
			real, err := securejoin.SecureJoin(dir, place)
			if err != nil {
				return diag.Errorf("Mount path not usable in the image", "%s cannot be followed there: %s. This is a fault of the "+
					"image: report it to its author.", place, failure.Sentence(err))
			}
			after.places[place] = path.Clean("/" + strings.TrimPrefix(real, dir))
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		if check != nil {
			if err := check(root, p); err != nil {
				return err
			}
		}
		passwd, err := readAccounts(root, "etc/passwd")
		if err != nil {
			return err
		}
		group, err := readAccounts(root, "etc/group")
		if err != nil {
			return err
		}
		return after.find(passwd, group, users)
	})
	return after, err
}

// find looks up users in the contents of /etc/passwd and /etc/group.
func (s *lookups) find(passwd, group string, users []string) error {
	for _, name := range users {
		found, err := user.GetExecUser(name, &user.ExecUser{Home: "/"}, strings.NewReader(passwd), strings.NewReader(group))
		if err != nil {
			return fmt.Errorf("its user %q: %w", name, err)
		}
		s.users[name] = *found
	}
	return nil
}

// Labels implements runner.Inspector.
func (x *Images) Labels(ctx context.Context, digest string) (map[string]string, error) {
	p, err := x.PrepareFor(x.conn.Context(ctx), runner.Spec{Digest: digest})
	if err != nil {
		return nil, failure.Of("Preparing the image "+digest, err)
	}
	return p.Config.Labels, nil
}

// Has implements runner.Inspector.
func (x *Images) Has(ctx context.Context, digest string, paths ...string) (out []bool, err error) {
	p, err := x.prepare(x.conn.Context(ctx), digest)
	if err != nil {
		return nil, err
	}
	e := x.cache.entry(p.Digest)
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.ContainsFunc(paths, func(name string) bool { _, known := e.lookups.has[name]; return !known }) {
		if os.Geteuid() != 0 {
			return nil, diag.Errorf("Only root can read the files of an image", "The kind of the image follows from its files, which "+
				"only root can read. Run deployster as root.")
		}
		has := map[string]bool{}
		maps.Copy(has, e.lookups.has)
		err := x.withFiles(x.conn.Context(ctx), p, func(dir string) error {
			for _, name := range paths {
				real, err := securejoin.SecureJoin(dir, name)
				if err == nil {
					_, err = os.Lstat(real)
				}
				has[name] = err == nil // a cycle of links leads to nothing
			}
			return nil
		})
		if err != nil {
			return nil, failure.Of("Reading the files of the image "+digest, err)
		}
		e.lookups.has = has
		x.cache.save(p, e.lookups)
	}
	for _, name := range paths {
		out = append(out, e.lookups.has[name])
	}
	return out, nil
}

// withFiles mounts the files of an image, read-only, while look runs.
func (x *Images) withFiles(ctx context.Context, p *Prepared, look func(dir string) error) error {
	ctx, err := x.conn.Leased(ctx)
	if err != nil {
		return err
	}
	snapshots := x.conn.Client.SnapshotService(x.conn.Snapshotter)
	key := x.conn.NewContainerID() + "-look"
	mounts, err := snapshots.View(ctx, key, p.Chain)
	if err != nil {
		return err
	}
	err = mounted(filepath.Join(x.conn.IODir(), "look"), mounts, look)
	ctx, cancel := x.conn.Detached(ctx, time.Minute)
	defer cancel()
	if rerr := snapshots.Remove(ctx, key); err == nil {
		err = rerr
	}
	return err
}

// mounted mounts files below a directory while look runs. If this process is killed, the
// server unmounts them with what else the client has left.
func mounted(below string, mounts []mount.Mount, look func(dir string) error) (err error) {
	if err := os.MkdirAll(below, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(below, "")
	if err != nil {
		return err
	}
	defer func() {
		if rerr := errors.Join(mount.UnmountAll(dir, 0), os.Remove(dir)); err == nil {
			err = rerr
		}
	}()
	if err := mount.All(mounts, dir); err != nil {
		return err
	}
	return look(dir)
}

// readAccounts reads a file of accounts in an image. A missing file counts as an empty
// one.
func readAccounts(root *os.Root, name string) (string, error) {
	// Non-blocking, because it could be a FIFO.
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", nil
	}
	defer f.Close()
	if i, err := f.Stat(); err != nil || !i.Mode().IsRegular() {
		return "", nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxAccount+1))
	if err != nil || len(b) > maxAccount {
		return "", fmt.Errorf("its /%s cannot be read, or has more than %d bytes", name, maxAccount)
	}
	return string(b), nil
}
