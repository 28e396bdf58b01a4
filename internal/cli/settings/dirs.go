package settings

import (
	"path/filepath"

	"deployster/internal/runtime/runner"
)

// program is the name of the directories of this program below those of a user.
const program = "deployster"

// Dirs are the directories in which a command keeps what outlives it, besides those of the project.
type Dirs struct {
	Data  string // the id of this machine, and who uses which state; "" = there is none
	Cache string // what can be fetched again; "" = there is none
}

// Dirs returns the directories of a command. Root has one for everything, and each other
// user has directories below the home directory.
func (env Lookup) Dirs(home string, asRoot bool) Dirs {
	if dir := env("DEPLOYSTER_DATA_DIR"); dir != "" {
		return Dirs{dir, dir}
	}
	if asRoot {
		return Dirs{runner.DefaultHostDataDir, runner.DefaultHostDataDir}
	}
	return Dirs{env.StateDir(home), env.below("XDG_CACHE_HOME", home, ".cache")}
}

// StateDir returns where a user's state of this program is; "" = there is no home directory.
func (env Lookup) StateDir(home string) string {
	return env.below("XDG_STATE_HOME", home, filepath.Join(".local", "state"))
}

// DataHome returns where the containerd of a user is; "" = there is no home directory.
func (env Lookup) DataHome(home string) string {
	return env.below("XDG_DATA_HOME", home, filepath.Join(".local", "share"))
}

// below returns the directory of this program in one that a variable names. The specification of the
// variables has relative paths ignored.
func (env Lookup) below(variable, home, otherwise string) string {
	switch dir := env(variable); {
	case filepath.IsAbs(dir):
		return filepath.Join(dir, program)
	case home == "":
		return ""
	}
	return filepath.Join(home, otherwise, program)
}
