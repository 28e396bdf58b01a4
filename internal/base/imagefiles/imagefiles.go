package imagefiles

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Set is a collection of files. The zero value is empty and ready.
type Set struct {
	files map[string]file // by their names in the image, without the leading slash
	roots []*os.Root
	left  []string // devices, sockets and pipes of trees, which no image needs
}

// LeftOut returns the devices, sockets and pipes of the trees: images have none.
func (s *Set) LeftOut() []string { return s.left }

// file is one file of an image.
type file struct {
	root   *os.Root    // where it is read; nil = its content is data
	name   string      // below root
	info   fs.FileInfo // of the file in root
	mode   fs.FileMode // with its type
	link   string      // of a symbolic link
	data   []byte
	weight int // of two files of one name, the heavier one wins
}

// The weights of files: the user's own files replace those that are included
// automatically.
const (
	along = iota
	own
)

// Close closes the directories. The Set cannot be written afterwards.
func (s *Set) Close() error {
	var errs []error
	for _, r := range s.roots {
		errs = append(errs, r.Close())
	}
	s.roots = nil
	return errors.Join(errs...)
}

// AddTree adds the content of a directory of this machine. target is its directory in the
// image; "/" = the root.
func (s *Set) AddTree(dir, target string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	s.roots = append(s.roots, root)
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if kind := d.Type(); kind&(fs.ModeDevice|fs.ModeCharDevice|fs.ModeSocket|fs.ModeNamedPipe) != 0 {
			s.left = append(s.left, path.Join(target, name))
			return nil
		}
		return s.addFrom(root, name, path.Join(target, name), own)
	})
}

// AddFile adds one file of this machine. A symbolic link is followed.
func (s *Set) AddFile(source, target string) error { return s.addFile(source, target, own) }

func (s *Set) addFile(source, target string, weight int) error {
	real, err := filepath.EvalSymlinks(source)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return err
	}
	s.roots = append(s.roots, root)
	return s.addFrom(root, filepath.Base(real), target, weight)
}

func (s *Set) addFrom(root *os.Root, name, target string, weight int) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	f := file{root: root, name: name, info: info, mode: info.Mode(), weight: weight}
	switch info.Mode().Type() {
	case fs.ModeDir, 0:
	case fs.ModeSymlink:
		if f.link, err = root.Readlink(name); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%s is a %s; only files, directories and symbolic links can be in an image", name, kindOf(info.Mode()))
	}
	return s.put(target, f)
}

// put adds a file at a name in the image.
func (s *Set) put(target string, f file) error {
	name := strings.TrimPrefix(path.Join("/", target), "/")
	if name == "" {
		return errors.New("a file needs a name in the image, other than /")
	}
	if s.files == nil {
		s.files = map[string]file{}
	}
	old, taken := s.files[name]
	switch {
	case !taken || f.weight > old.weight:
	case old.mode.IsDir() && f.mode.IsDir() || f.weight < old.weight:
		return nil
	case f.weight == own:
		return fmt.Errorf("there are two files for /%s", name)
	}
	s.files[name] = f
	return nil
}

// Has reports whether the image has a file of that name. Every path below a symbolic link
// to a directory is assumed to exist.
func (s *Set) Has(target string) bool {
	name := strings.TrimPrefix(path.Join("/", target), "/")
	if _, ok := s.files[name]; ok {
		return true
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if s.files[dir].mode&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// Executable sets the execute bits of a file of the set, and reports whether it is a
// regular file of the set. Scripts saved by an editor often lack these bits.
func (s *Set) Executable(target string) bool {
	name := strings.TrimPrefix(path.Join("/", target), "/")
	f, ok := s.files[name]
	if !ok || !f.mode.IsRegular() {
		return false
	}
	f.mode |= 0o111
	s.files[name] = f
	return true
}

// head reads the beginning of a file of the set.
func (s *Set) head(target string) []byte {
	f, ok := s.files[strings.TrimPrefix(path.Join("/", target), "/")]
	if !ok || !f.mode.IsRegular() {
		return nil
	}
	if f.root == nil {
		return f.data
	}
	opened, err := f.root.Open(f.name)
	if err != nil {
		return nil
	}
	defer opened.Close()
	buf := make([]byte, 256)
	n, _ := io.ReadFull(opened, buf) // a short file is not an error
	return buf[:n]
}

// Interpreter returns the program that a script's first line names; "" if the file is not a
// script or does not exist.
func (s *Set) Interpreter(target string) string {
	line, _, _ := strings.Cut(string(s.head(target)), "\n")
	rest, ok := strings.CutPrefix(line, "#!")
	if words := strings.Fields(rest); ok && len(words) > 0 {
		return words[0]
	}
	return ""
}

// WindowsLines reports whether the first line of a script ends with a carriage return,
// which the kernel then takes as part of the interpreter's name or flag.
func (s *Set) WindowsLines(target string) bool { return WindowsScript(s.head(target)) }

// WindowsScript reports the same of the first bytes of a file.
func WindowsScript(head []byte) bool {
	line, _, _ := strings.Cut(string(head), "\n")
	return strings.HasPrefix(line, "#!") && strings.HasSuffix(line, "\r")
}

// Program reports whether the kernel can run a file: a program, or a script whose first
// line names its interpreter. It returns true for all that is not a regular file of the
// set.
func (s *Set) Program(target string) bool {
	f, ok := s.files[strings.TrimPrefix(path.Join("/", target), "/")]
	if !ok || !f.mode.IsRegular() {
		return true
	}
	head := string(s.head(target))
	return strings.HasPrefix(head, "\x7fELF") || strings.HasPrefix(head, "#!")
}

// WriteTar writes the files to a tar, sorted and without times and owners.
func (s *Set) WriteTar(ctx context.Context, to io.Writer) error {
	s.addParents()
	out := tar.NewWriter(to)
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := writeEntry(out, name, s.files[name]); err != nil {
			return err
		}
	}
	return out.Close()
}

// addParents adds the directories that the files are in.
func (s *Set) addParents() {
	for _, name := range slices.Collect(maps.Keys(s.files)) {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, there := s.files[dir]; !there {
				s.files[dir] = file{mode: fs.ModeDir | 0o755}
			}
		}
	}
}

func writeEntry(out *tar.Writer, name string, f file) error {
	h := &tar.Header{Name: name, Mode: int64(f.mode.Perm()), Format: tar.FormatPAX}
	for bit, mode := range map[fs.FileMode]int64{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if f.mode&bit != 0 {
			h.Mode |= mode
		}
	}
	switch f.mode.Type() {
	case fs.ModeDir:
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case fs.ModeSymlink:
		h.Typeflag, h.Linkname = tar.TypeSymlink, f.link
	default:
		h.Typeflag, h.Size = tar.TypeReg, int64(len(f.data))
		if f.root != nil {
			h.Size = f.info.Size()
		}
	}
	if err := out.WriteHeader(h); err != nil || h.Typeflag != tar.TypeReg {
		return err
	}
	if f.root == nil {
		_, err := out.Write(f.data)
		return err
	}
	return copyFile(out, f)
}

func copyFile(out io.Writer, f file) error {
	opened, err := f.root.Open(f.name)
	if err != nil {
		return err
	}
	defer opened.Close()
	if have, err := opened.Stat(); err != nil || !os.SameFile(have, f.info) {
		return fmt.Errorf("%s was replaced while it was packed", f.name)
	}
	n, err := io.Copy(out, io.LimitReader(opened, f.info.Size()))
	if err == nil && n < f.info.Size() {
		err = fmt.Errorf("%s was shortened while it was packed", f.name)
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
