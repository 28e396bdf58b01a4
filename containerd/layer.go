package containerd

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// writeLayer writes the files below a directory as one layer: sorted, without
// times and owners, so that it depends on nothing but the files. The file is
// left at its beginning.
func writeLayer(ctx context.Context, to *os.File, dir string) (ocispec.Descriptor, error) {
	hash := digest.Canonical.Digester()
	if err := writeTar(ctx, io.MultiWriter(to, hash.Hash()), dir); err != nil {
		return ocispec.Descriptor{}, err
	}
	size, err := to.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = to.Seek(0, io.SeekStart)
	}
	// Not compressed: it stays on this machine, and a compressor would have a
	// say in the digest.
	return ocispec.Descriptor{MediaType: ocispec.MediaTypeImageLayer, Digest: hash.Digest(), Size: size}, err
}

func writeTar(ctx context.Context, to io.Writer, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	out := tar.NewWriter(to)
	// WalkDir goes in lexical order.
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return writeEntry(out, root, name)
	})
	return errors.Join(err, out.Close())
}

func writeEntry(out *tar.Writer, root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	h := &tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Format: tar.FormatPAX}
	for bit, mode := range map[fs.FileMode]int64{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if info.Mode()&bit != 0 {
			h.Mode |= mode
		}
	}
	switch info.Mode().Type() {
	case fs.ModeDir:
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case fs.ModeSymlink:
		h.Typeflag = tar.TypeSymlink
		if h.Linkname, err = root.Readlink(name); err != nil {
			return err
		}
	case 0:
		h.Typeflag, h.Size = tar.TypeReg, info.Size()
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		return copyFile(out, root, name, info)
	default:
		return fmt.Errorf("%s is a %s; only files, directories and symbolic links can be in an image", name, kindOf(info.Mode()))
	}
	return out.WriteHeader(h)
}

func copyFile(out io.Writer, root *os.Root, name string, want fs.FileInfo) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if have, err := f.Stat(); err != nil || !os.SameFile(have, want) {
		return fmt.Errorf("%s was replaced while it was packed", name)
	}
	n, err := io.Copy(out, io.LimitReader(f, want.Size()))
	if err == nil && n < want.Size() {
		err = fmt.Errorf("%s was shortened while it was packed", name)
	}
	return err
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
