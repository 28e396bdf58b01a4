package programs

import (
	"os"
	"path/filepath"
)

// Installed is the directory of the packages for files that people do not call by name.
const Installed = "/usr/lib/deployster"

// Variable is the environment variable with a further directory.
const Variable = "DEPLOYSTER_LIBEXEC"

// Dirs returns the directories in which files of deployster are found, the first one first:
// that of this program, where its links end; Installed; and the one of the environment.
func Dirs() []string {
	var dirs []string
	if self, err := os.Executable(); err == nil {
		if end, err := filepath.EvalSymlinks(self); err == nil { // not on Linux alone, which does this by itself
			self = end
		}
		dirs = append(dirs, filepath.Dir(self))
	}
	dirs = append(dirs, Installed)
	if more := os.Getenv(Variable); more != "" {
		if path, err := filepath.Abs(more); err == nil {
			dirs = append(dirs, path)
		}
	}
	return dirs
}

// Find returns the path of a file or directory that comes with deployster, such as
// "deployster-agent" or "images/NAME", and "" if it is in none of Dirs.
func Find(name string) string { return find(Dirs(), name) }

func find(dirs []string, name string) string {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}
