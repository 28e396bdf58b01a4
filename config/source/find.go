package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"deployster/config/limits"
	"deployster/internal/base/diag"
)

// Find reads the manifests: those of the workspace, or of the directories and files
// in args (relative to the workspace). It is an error if there are none. The files of
// flags hold values of variables, and are not manifests whatever their names.
func Find(workspace string, args []string, flags []VarFlag) (Sources, diag.Diagnostics) {
	return Edited(nil).Find(workspace, args, flags)
}

// Find is the function Find where these texts count.
func (e Edited) Find(workspace string, args []string, flags []VarFlag) (Sources, diag.Diagnostics) {
	workspace, err := filepath.Abs(workspace)
	if err != nil {
		return Sources{}, diag.Diagnostics{diag.Errorf("No working directory", "%s", err)}
	}
	f := finder{workspace: workspace, edited: e, seen: map[string]bool{}, values: map[string]bool{}}
	for _, flag := range flags {
		if flag.File {
			f.values[f.absolute(flag.Value)] = true
		}
	}
	if len(args) == 0 {
		f.directory(".")
	}
	for _, arg := range args {
		f.argument(arg)
	}
	switch {
	case len(f.files) > 0:
		for _, dir := range f.empty {
			f.fail(NoManifest, "There is no manifest in %s: no file whose name ends in .hcl or .hcl.json. Omit it, or name the "+
				"directory that has one.", dir)
		}
	case !f.diags.HasErrors():
		f.diags = append(f.diags, noManifest(workspace, args))
	}
	src := Sources{Workspace: workspace, Dir: commonDir(workspace, f.dirs), Manifests: f.files, Reads: map[string][]byte{},
		Edited: e}
	return src, f.diags
}

// finder collects manifest files.
type finder struct {
	workspace string
	edited    Edited
	files     []File
	dirs      []string // absolute: the directories that were searched for manifests
	empty     []string // as given by the user: directories without manifests
	seen      map[string]bool
	values    map[string]bool // absolute: the files of -var-file
	total     int
	diags     diag.Diagnostics
}

func (f *finder) fail(summary, detail string, args ...any) {
	f.diags = append(f.diags, diag.Errorf(summary, detail, args...))
}

func (f *finder) argument(arg string) {
	path := f.absolute(arg)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.fail("No such file or directory", "%q does not exist in %s. Give the path of a manifest file or of a directory with manifests.",
			arg, f.workspace)
	case err != nil:
		f.fail("Unreadable path", "%q cannot be read: %s.", arg, reason(err))
	case info.IsDir():
		f.directory(arg)
	case f.values[path]:
		f.fail("A variable file is not a manifest", "%q is named by -var-file, and as a manifest too. Name it once.", arg)
	case !IsManifest(filepath.Base(path)):
		if IsTestFile(filepath.Base(arg)) {
			f.fail("Not a manifest", "%q has tests of manifests. To run them: deployster test", arg)
			break
		}
		f.fail("Not a manifest", "%q is not a manifest: their names end in .hcl or .hcl.json, do not begin with a dot, and are not those "+
			"of variable files (vars.auto.hcl, vars.NAME.auto.hcl). Give values of variables with -var-file.", arg)
	default:
		f.dirs = append(f.dirs, filepath.Dir(path))
		f.file(arg)
	}
}

func (f *finder) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(f.workspace, path)
}

func (f *finder) directory(dir string) {
	path := f.absolute(dir)
	f.dirs = append(f.dirs, path)
	names, err := f.edited.names(path, func(e fs.DirEntry) bool { return !e.IsDir() })
	if err != nil {
		f.fail("Unreadable directory", "The directory %q cannot be read: %s.", dir, reason(err))
		return
	}
	found := false
	for _, name := range names {
		if IsManifest(name) && !f.values[filepath.Join(path, name)] {
			f.file(filepath.Join(dir, name))
			found = true
		}
	}
	if !found {
		f.empty = append(f.empty, dir)
	}
}

func (f *finder) file(path string) {
	full := f.absolute(path)
	if f.seen[full] {
		return
	}
	f.seen[full] = true
	if len(f.files) == MaxFiles {
		if !f.seen[""] {
			f.fail("Too many manifests", "There are more than %d manifest files. Name some of them, or a smaller directory.", MaxFiles)
		}
		f.seen[""] = true // reported once
		return
	}
	data, err := f.edited.read(full)
	if err != nil {
		f.fail("Unreadable manifest", "%q cannot be read: %s.", path, reason(err))
		return
	}
	if HasValuesOnly(path, data) {
		return
	}
	if f.total += len(data); f.total > maxTotalSize {
		if f.total-len(data) <= maxTotalSize {
			f.fail("Too large to be read safely", "The manifests have more than %d bytes together. Move data to files of their own.",
				maxTotalSize)
		}
		return
	}
	f.files = append(f.files, File{Path: filepath.Clean(path), Bytes: data})
}

// IsManifest reports whether a file with this name is a manifest.
func IsManifest(name string) bool {
	if strings.HasPrefix(name, ".") || IsAutoFile(name) || strings.HasSuffix(name, TestEnding) {
		return false
	}
	return strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".hcl.json")
}

// firstIsValue matches a file that begins with an attribute, after comments.
var firstIsValue = regexp.MustCompile(`^(?s:\s|#[^\n]*\n|//[^\n]*\n|/\*.*?\*/)*[a-zA-Z][a-zA-Z0-9_-]*[ \t]*=[^=>]`)

// HasValuesOnly reports whether a file consists of lines NAME = VALUE only: a
// manifest has none of them outside of blocks, so it is a file for -var-file.
func HasValuesOnly(path string, data []byte) bool {
	if !strings.HasSuffix(path, ".hcl") || !firstIsValue.Match(data) || limits.Native(data, path, false, hcl.InitialPos) != nil {
		return false
	}
	file, diags := hclsyntax.ParseConfig(data, path, hcl.InitialPos)
	body, ok := file.Body.(*hclsyntax.Body)
	return ok && !diags.HasErrors() && len(body.Blocks) == 0
}

// readRegular reads a regular file of limited size. It does not block on a named pipe.
func readRegular(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readOpen(f)
}

func readOpen(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFileSize {
		return nil, errTooLarge
	}
	return data, nil
}

var errTooLarge = fmt.Errorf("it has more than %d bytes, the limit", MaxFileSize)

// reason returns the text of an error without the path, which the message has already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// commonDir returns the deepest directory that contains all of dirs.
func commonDir(workspace string, dirs []string) string {
	if len(dirs) == 0 {
		return workspace
	}
	common := dirs[0]
	for _, d := range dirs[1:] {
		for common != "/" && d != common && !strings.HasPrefix(d, common+"/") {
			common = filepath.Dir(common)
		}
	}
	return common
}

// NoManifest is the summary of the error that Find returns if there is no manifest.
const NoManifest = "No manifest"

func noManifest(workspace string, args []string) *diag.Diagnostic {
	where := workspace
	if len(args) > 0 {
		where = strings.Join(slices.Compact(slices.Clone(args)), ", ")
	}
	hint := ""
	if tf, _ := filepath.Glob(filepath.Join(workspace, "*.tf")); len(args) == 0 && len(tf) > 0 {
		hint = fmt.Sprintf(" The files that end in .tf, such as %s, are Terraform's, and not read.", filepath.Base(tf[0]))
	}
	return diag.Errorf(NoManifest, "There is no manifest in %s: no file whose name ends in .hcl or .hcl.json.%s "+
		`Go to the directory that has one, name it (deployster plan DIR), or begin one, for example main.hcl:

resource "hello" {
  type   = "acme/file:1"
  config = { path = "/tmp/hello", content = "Hello" }
}`, where, hint)
}
