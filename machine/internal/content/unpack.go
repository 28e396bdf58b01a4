package content

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// maxEntries is how many entries an archive may have.
const maxEntries = 500_000

// unpacker unpacks one archive into a directory that nobody else uses.
type unpacker struct {
	to      *os.Root
	strip   int
	left    int64 // how many bytes may be unpacked yet
	limit   string
	entries int
	links   []entry // are made last: nothing is written through them
}

// entry is one entry of an archive.
type entry struct {
	name string
	mode fs.FileMode
	time time.Time
	link string // the target of a symbolic link
	hard string // the name of the entry to which a hard link leads
	open func() (io.Reader, error)
}

// unpack unpacks a file, whatever its name is.
func (u *unpacker) unpack(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	begin := make([]byte, 6)
	if n, err := file.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	} else {
		begin = begin[:n]
	}
	if bytes.HasPrefix(begin, []byte("PK")) {
		err = u.zip(file, info.Size())
	} else {
		err = u.tar(bufio.NewReader(file), begin)
	}
	if err == nil {
		err = u.finish()
	}
	return err
}

func (u *unpacker) tar(from io.Reader, begin []byte) (err error) {
	switch {
	case bytes.HasPrefix(begin, []byte{0x1f, 0x8b}):
		from, err = gzip.NewReader(from)
	case bytes.HasPrefix(begin, []byte("BZh")):
		from = bzip2.NewReader(from)
	case bytes.HasPrefix(begin, []byte("\xfd7zXZ\x00")):
		from, err = xz.NewReader(from)
	case bytes.HasPrefix(begin, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		decoder, failed := zstd.NewReader(from, zstd.WithDecoderMaxMemory(1<<30), zstd.WithDecoderConcurrency(1))
		if failed != nil {
			return failed
		}
		defer decoder.Close()
		from = decoder
	}
	if err != nil {
		return fmt.Errorf("the archive cannot be read: %w", err)
	}
	archive := tar.NewReader(from)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) && u.entries > 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the archive is neither a zip nor a tar file, or is damaged: %w", err)
		}
		e := entry{name: h.Name, mode: h.FileInfo().Mode(), time: h.ModTime, open: func() (io.Reader, error) { return archive, nil }}
		switch h.Typeflag {
		case tar.TypeReg, tar.TypeDir:
		case tar.TypeSymlink:
			e.link = h.Linkname
		case tar.TypeLink:
			e.hard = h.Linkname
		case tar.TypeXGlobalHeader:
			u.entries++
			continue
		default:
			return fmt.Errorf("%q in the archive is neither a file, a directory nor a link: it is refused", h.Name)
		}
		if err := u.add(e); err != nil {
			return err
		}
	}
}

func (u *unpacker) zip(file io.ReaderAt, size int64) error {
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return fmt.Errorf("the archive cannot be read: %w", err)
	}
	for _, f := range archive.File {
		e := entry{name: f.Name, mode: f.Mode(), time: f.Modified}
		e.open = func() (io.Reader, error) { return f.Open() }
		if f.Mode()&fs.ModeSymlink != 0 {
			from, err := f.Open()
			if err != nil {
				return err
			}
			target, err := io.ReadAll(io.LimitReader(from, 4096))
			if err = errors.Join(err, from.Close()); err != nil {
				return err
			}
			e.link = string(target)
		}
		if err := u.add(e); err != nil {
			return err
		}
	}
	return nil
}

// local returns a name without its first parts; "" = nothing is left of it.
func (u *unpacker) local(name string) (string, error) {
	clean := path.Clean(name)
	if strings.ContainsRune(name, 0) || strings.HasPrefix(name, "/") || clean == ".." || strings.HasPrefix(clean, "../") ||
		strings.Contains("/"+name+"/", "/../") {
		return "", fmt.Errorf("%q in the archive leads out of its directory: it is refused", name)
	}
	parts := strings.Split(clean, "/")
	if len(parts) <= u.strip || clean == "." {
		return "", nil
	}
	return path.Join(parts[u.strip:]...), nil
}

func (u *unpacker) add(e entry) (err error) {
	if u.entries++; u.entries > maxEntries {
		return fmt.Errorf("the archive has more than %d entries: it is refused", maxEntries)
	}
	full := e.name
	if e.name, err = u.local(e.name); err != nil || e.name == "" {
		return err
	}
	if e.mode.IsDir() {
		return u.to.MkdirAll(e.name, 0o755)
	}
	if err := u.to.MkdirAll(path.Dir(e.name), 0o755); err != nil {
		return fmt.Errorf("%q in the archive: %w", full, err)
	}
	switch {
	case e.link != "":
		if path.IsAbs(e.link) || escapes(path.Join(path.Dir(e.name), e.link)) {
			return fmt.Errorf("the link %q in the archive leads out of its directory, to %q: it is refused", full, e.link)
		}
		u.links = append(u.links, e)
		return nil
	case e.hard != "":
		target, err := u.local(e.hard)
		if err == nil {
			err = u.to.Link(target, e.name)
		}
		if err != nil {
			return fmt.Errorf("the link %q in the archive: %w", full, err)
		}
		return nil
	case !e.mode.IsRegular():
		return fmt.Errorf("%q in the archive is neither a file, a directory nor a link: it is refused", full)
	}
	if err := u.file(e); err != nil {
		return fmt.Errorf("%q in the archive: %w", full, err)
	}
	return nil
}

func escapes(name string) bool { return name == ".." || strings.HasPrefix(name, "../") }

func (u *unpacker) file(e entry) error {
	from, err := e.open()
	if err != nil {
		return err
	}
	if closer, ok := from.(io.Closer); ok {
		defer func() { _ = closer.Close() }()
	}
	mode := fs.FileMode(0o644)
	if e.mode&0o100 != 0 {
		mode = 0o755 // and no setuid: an archive does not give rights
	}
	to, err := u.to.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return errors.New("the archive has it twice: it is refused")
	}
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	n, err := io.Copy(to, io.LimitReader(from, u.left+1))
	if u.left -= n; u.left < 0 {
		return fmt.Errorf("with it the archive has more than %s unpacked, which is max_size: it is refused", u.limit)
	}
	if err == nil {
		err = to.Chmod(mode)
	}
	if err != nil {
		return err
	}
	if err := to.Close(); err != nil || e.time.IsZero() {
		return err
	}
	return u.to.Chtimes(e.name, e.time, e.time)
}

// finish makes the links.
func (u *unpacker) finish() error {
	if u.entries == 0 {
		return errors.New("the archive is empty")
	}
	for _, e := range u.links {
		if err := u.to.Symlink(e.link, e.name); err != nil {
			return fmt.Errorf("the link %q of the archive cannot be made: %w", e.name, err)
		}
	}
	return nil
}
