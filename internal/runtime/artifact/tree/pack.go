package tree

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Pack writes a directory as a tar archive, in the order of its paths. It keeps modes,
// owners and times. The directory must not change meanwhile.
func Pack(ctx context.Context, w io.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	archive := tar.NewWriter(w)
	if err := walk(ctx, root, MaxEntries, func(e *entry) error { return pack(ctx, archive, root, e) }); err != nil {
		return err
	}
	return archive.Close()
}

func pack(ctx context.Context, archive *tar.Writer, root *os.Root, e *entry) error {
	info, err := root.Lstat(e.path)
	if err != nil {
		return err
	}
	header, err := tar.FileInfoHeader(info, e.target)
	if err != nil {
		return err
	}
	header.Name, header.Uname, header.Gname = e.path, "", ""
	header.Format = tar.FormatPAX // which keeps times to the nanosecond
	if err := archive.WriteHeader(header); err != nil || !e.mode.IsRegular() {
		return err
	}
	f, err := root.OpenFile(e.path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(archive, readerOf(ctx, f), header.Size)
	return err
}

// Unpack creates a directory from an archive of Pack, at a path that does not exist. It
// touches nothing outside of it, whatever the archive contains.
func Unpack(ctx context.Context, r io.Reader, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var dirs []*tar.Header // their modes come last: a directory may be read-only
	archive := tar.NewReader(readerOf(ctx, r))
	for n := 1; ; n++ {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case err != nil:
			return err
		case n > MaxEntries:
			return &RefusedError{h.Name, fmt.Sprintf("is one of more than %d files", MaxEntries)}
		case !filepath.IsLocal(h.Name) || len(h.Name) > MaxPath:
			return &RefusedError{h.Name, "is not a path below a directory"}
		}
		if h.Typeflag == tar.TypeDir {
			dirs = append(dirs, h)
		}
		if err := unpack(root, archive, h); err != nil {
			return err
		}
	}
	for i := len(dirs) - 1; i >= 0; i-- {
		if err := setAttributes(root, dirs[i]); err != nil {
			return err
		}
	}
	return nil
}

func unpack(root *os.Root, content io.Reader, h *tar.Header) error {
	switch h.Typeflag {
	case tar.TypeDir:
		if h.Name == "." {
			return nil
		}
		return root.Mkdir(h.Name, 0o700)
	case tar.TypeSymlink:
		return errors.Join(root.Symlink(h.Linkname, h.Name), setOwner(root, h))
	case tar.TypeReg:
		f, err := root.OpenFile(h.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close(), setAttributes(root, h))
	}
	return &RefusedError{h.Name, "is neither a file, nor a directory, nor a link"}
}

// setAttributes sets the owner, the mode and the time of a file or a directory. The owner
// comes first: changing it clears setuid.
func setAttributes(root *os.Root, h *tar.Header) error {
	return errors.Join(setOwner(root, h), root.Chmod(h.Name, h.FileInfo().Mode()), root.Chtimes(h.Name, h.ModTime,
		h.ModTime))
}

// setOwner sets the owner of a file, a directory or a link. What anybody but root unpacks is its own.
func setOwner(root *os.Root, h *tar.Header) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return root.Lchown(h.Name, h.Uid, h.Gid)
}
