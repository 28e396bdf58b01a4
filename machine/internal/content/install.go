package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"deployster/machine/internal/replace"
)

// unpacked makes the directory of the version.
func (k Archive) unpacked(ctx context.Context, c *archiveCall, owners replace.Change) (err error) {
	directory := c.Config.version()
	beside := filepath.Join(filepath.Dir(directory), "."+filepath.Base(c.Config.Path)+".deployster-new")
	if err := replace.RemoveAll(k.Machine, beside); err != nil { // of an earlier run
		return err
	}
	if err := os.Mkdir(k.Machine.Path(beside), 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, replace.RemoveAll(k.Machine, beside))
		}
	}()
	file, err := k.fetched(ctx, c, beside)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	root, err := os.OpenRoot(k.Machine.Path(beside))
	if err != nil {
		return err
	}
	u := &unpacker{to: root, strip: c.Config.Strip, left: sizeOf(c.Config.MaxSize), limit: c.Config.MaxSize}
	if err := errors.Join(u.unpack(file), root.Close()); err != nil {
		return err
	}
	if err := chown(k.Machine.Path(beside), owners); err != nil {
		return err
	}
	r, err := recordOf(k.Machine.Path(beside))
	if err != nil {
		return err
	}
	if err := os.Chmod(k.Machine.Path(beside), 0o755); err != nil {
		return err
	}
	if err := syncAll(k.Machine.Path(beside)); err != nil {
		return err
	}
	if err := r.write(ctx, k.Machine, directory); err != nil {
		return err
	}
	return k.exchange(beside, directory)
}

// exchange puts a directory in the place of another one, at once.
func (k Archive) exchange(beside, directory string) error {
	err := unix.Renameat2(unix.AT_FDCWD, k.Machine.Path(beside), unix.AT_FDCWD, k.Machine.Path(directory), unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOENT) {
		return os.Rename(k.Machine.Path(beside), k.Machine.Path(directory))
	}
	if err != nil {
		return fmt.Errorf("%s cannot be replaced: %w", directory, err)
	}
	return replace.RemoveAll(k.Machine, beside)
}

// syncAll has the file system written: the names of the directory are durable after all they name.
func syncAll(real string) error {
	fd, err := unix.Open(real, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(fd), unix.Close(fd))
}

// fetched returns the archive as a file without a name, after its checksum was compared.
func (k Archive) fetched(ctx context.Context, c *archiveCall, directory string) (*os.File, error) {
	from, origin, err := opened(ctx, k.Machine, c.Config.URL, c.Config.Source)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	file, err := os.CreateTemp(k.Machine.Path(directory), "archive-")
	if err != nil {
		return nil, err
	}
	err = os.Remove(file.Name())
	if err == nil {
		_, err = io.Copy(file, verify(from, origin, c.Config.SHA256))
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func sizeOf(text string) int64 {
	n, _ := strconv.ParseInt(strings.TrimRight(text, "MG"), 10, 32) // the schema has checked it
	if strings.HasSuffix(text, "G") {
		return n << 30
	}
	return n << 20
}

// chown gives all that is in a directory to an owner.
func chown(real string, owners replace.Change) error {
	uid, gid := -1, -1
	if owners.UID != nil {
		uid = *owners.UID
	}
	if owners.GID != nil {
		gid = *owners.GID
	}
	return filepath.WalkDir(real, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
}
