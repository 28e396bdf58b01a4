package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"deployster/config"
	"deployster/internal/base/diag"
)

// IsManifest reports whether a file's name is that of a manifest.
func IsManifest(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".hcl" || ext == ".json"
}

// CheckNewManifest returns an error if no manifest can be written under a name, before
// images are queried for its content.
func (o Options) CheckNewManifest(file string) error {
	_, err := os.Lstat(o.Path(file))
	switch {
	case filepath.Ext(file) != ".hcl":
		return diag.Errorf("Not the name of a manifest", "%s does not end in .hcl, so no command would read it.", file)
	case err == nil:
		return diag.Errorf("The manifest exists already", "%s is not replaced. Name another file, or remove it first.", file)
	case !errors.Is(err, fs.ErrNotExist):
		return diag.Errorf("Cannot write the manifest", "%s.", err)
	}
	return nil
}

// Replaceable returns an error if a result must not replace a file: a device, a
// directory, a manifest.
func (o Options) Replaceable(file string) error {
	info, err := os.Lstat(o.Path(file))
	switch {
	case filepath.Ext(file) == ".hcl":
		return fmt.Errorf("its name is that of a manifest, which every command would read")
	case config.IsVariableFile(filepath.Base(file)):
		return fmt.Errorf("its name is that of a variable file, which every command would read")
	case err == nil && info.Mode()&os.ModeSymlink != 0:
		return fmt.Errorf("it is a symbolic link, which may be another user's. Name the file itself, or remove the link")
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("it exists already and is not a regular file")
	}
	return nil
}
