package tree

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// Limits of a tree.
const (
	MaxEntries = 1_000_000
	MaxPath    = 4 << 10 // bytes
)

// RefusedError reports which file of a tree is refused.
type RefusedError struct {
	Path   string // below the root; "." is the root
	Reason string // "is a FIFO"
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%q %s", e.Path, e.Reason) }

// Sum is the hash and the size of a tree.
type Sum struct {
	Hash  string // "sha256:...", over paths, kinds, modes and contents
	Files int64  // without directories
	Bytes int64  // in regular files
}

// entry is a file, a directory or a link in a tree. Its path has slashes.
type entry struct {
	path   string
	mode   fs.FileMode
	size   int64
	target string // of a link
	sum    [sha256.Size]byte
}

// Measure returns the Sum of a tree, which must not change meanwhile.
func Measure(ctx context.Context, dir string) (Sum, error) { return measure(ctx, dir, MaxEntries) }

// measure is Measure of a tree of at most that many entries.
func measure(ctx context.Context, dir string, most int) (s Sum, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return s, err
	}
	defer root.Close()
	h := sha256.New()
	var batch []*entry
	flush := func() error {
		err := sumContents(ctx, root, batch)
		for _, e := range batch {
			e.writeTo(h)
		}
		batch = batch[:0]
		return err
	}
	err = walk(ctx, root, most, func(e *entry) error {
		if e.mode.IsRegular() {
			s.Bytes += e.size
		}
		if !e.mode.IsDir() {
			s.Files++
		}
		if batch = append(batch, e); len(batch) < batchSize {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	s.Hash = "sha256:" + hex.EncodeToString(h.Sum(nil))
	return s, err
}

// batchSize is how many files are read in parallel before the walk continues.
const batchSize = 1024

// sumContents hashes the regular files.
func sumContents(ctx context.Context, root *os.Root, batch []*entry) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, e := range batch {
		if !e.mode.IsRegular() || ctx.Err() != nil {
			continue
		}
		g.Go(func() error {
			f, err := root.OpenFile(e.path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			h := sha256.New()
			n, err := io.Copy(h, readerOf(ctx, f))
			if err == nil && n != e.size {
				err = &RefusedError{e.path, "was changed while it was read"}
			}
			h.Sum(e.sum[:0])
			return err
		})
	}
	return errors.Join(g.Wait(), context.Cause(ctx))
}

// readerOf returns a reader that fails when the context ends.
func readerOf(ctx context.Context, r io.Reader) io.Reader { return reader{ctx, r} }

type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// writeTo hashes an entry: each part with its length, so that parts cannot be confused.
func (e *entry) writeTo(h hash.Hash) {
	w := bufio.NewWriterSize(h, 512)
	text := func(s string) {
		_ = binary.Write(w, binary.BigEndian, int64(len(s))) // a hash takes everything
		_, _ = w.WriteString(s)
	}
	text(e.path)
	_ = binary.Write(w, binary.BigEndian, uint32(e.mode))
	switch {
	case e.mode.IsRegular():
		_ = binary.Write(w, binary.BigEndian, e.size)
		_, _ = w.Write(e.sum[:])
	case e.mode&fs.ModeSymlink != 0:
		text(e.target)
	}
	_ = w.Flush()
}

// walk visits the entries of a tree in the order of their paths, a directory before its
// content. It refuses a tree of more than that many entries. The root is ".".
func walk(ctx context.Context, root *os.Root, most int, visit func(*entry) error) error {
	n := 1 // all that are known, with the root and what is not visited yet
	var into func(dir string) error
	see := func(name string) error {
		if ctx.Err() != nil { // the path to one file may have thousands of directories
			return context.Cause(ctx)
		}
		if len(name) > MaxPath {
			return &RefusedError{name[:100] + "...", fmt.Sprintf("has a path of more than %d bytes", MaxPath)}
		}
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		e := &entry{path: name, mode: info.Mode(), size: info.Size()}
		if kind := special(e.mode); kind != "" {
			return &RefusedError{name, "is " + kind}
		}
		if e.mode&fs.ModeSymlink != 0 {
			if e.target, err = root.Readlink(name); err != nil {
				return err
			}
		}
		if err := visit(e); err != nil || !e.mode.IsDir() {
			return err
		}
		return into(name)
	}
	into = func(dir string) error {
		names, err := namesIn(root, dir, most-n+1)
		if err != nil {
			return err
		}
		if n += len(names); n > most {
			return &RefusedError{path.Join(dir, names[len(names)-1]), fmt.Sprintf("is one of more than %d files", most)}
		}
		for _, name := range names {
			if err := see(path.Join(dir, name)); err != nil {
				return err
			}
		}
		return nil
	}
	return see(".")
}

// namesIn lists a directory, up to that many names, sorted.
func namesIn(root *os.Root, dir string, most int) ([]string, error) {
	f, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(most)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(names, strings.Compare)
	return names, nil
}

// special names a file that is neither regular, nor a directory, nor a link.
func special(m fs.FileMode) string {
	switch {
	case m.IsRegular(), m.IsDir(), m&fs.ModeSymlink != 0:
		return ""
	case m&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
