package layout

import (
	"errors"
	"os"

	"deployster/internal/base/durable"
)

// InstallProgram puts a copy of a program at a path, for all users to run. It has the
// time of the original, by which sameProgram knows it.
func InstallProgram(path, program string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	have, err := os.Stat(program)
	if err != nil {
		return err
	}
	return errors.Join(durable.WriteUnsynced(path, content, 0o755), os.Chtimes(path, have.ModTime(), have.ModTime()))
}

// IsInstalled reports whether there is a copy of a program at a path.
func IsInstalled(path string, program os.FileInfo) bool {
	there, err := os.Stat(path)
	return err == nil && (os.SameFile(program, there) || there.Size() == program.Size() && there.ModTime().Equal(program.ModTime()))
}
