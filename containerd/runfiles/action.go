package runfiles

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"deployster/containerd/agent"
	"deployster/internal/runtime/runner"
)

// recordFile is a file next to the standard files of an action in a shared container: its agent records
// there what becomes of it.
const recordFile = "record"

// ActionDir returns the directory of an action in a shared container, by the number of its request.
func ActionDir(dir string, request int64) string {
	return filepath.Join(dir, strconv.FormatInt(request, 10))
}

// ActionFiles is the files of an action in a shared container. They are plain files, and are read by
// other clients if this one is killed.
type ActionFiles struct {
	*Files
	stdin, record *os.File
}

// NewAction creates the files of an action in the directory of a shared container. They belong to the user
// of the program, who may open them again by their names in /proc.
func NewAction(dir string, request int64, s runner.Spec, uid, gid int) (a *ActionFiles, err error) {
	a = &ActionFiles{Files: &Files{Dir: ActionDir(dir, request)}}
	a.Stdin = filepath.Join(a.Dir, StdinFile)
	if err := os.Mkdir(a.Dir, 0o700); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a, err = nil, errors.Join(err, a.Remove())
		}
	}()
	if err := os.WriteFile(a.Stdin, s.Stdin, 0o600); err != nil {
		return a, err
	}
	if err := os.Chown(a.Stdin, uid, gid); err != nil {
		return a, err
	}
	if a.stdin, err = os.Open(a.Stdin); err != nil {
		return a, err
	}
	if a.Stdout, err = NewLogFile(filepath.Join(a.Dir, StdoutFile), os.O_RDWR, s.Stdout); err != nil {
		return a, err
	}
	if a.Stderr, err = NewLogFile(filepath.Join(a.Dir, StderrFile), os.O_RDWR, s.Stderr); err != nil {
		return a, err
	}
	a.record, err = os.OpenFile(filepath.Join(a.Dir, recordFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	return a, err
}

// Given returns the files for the agent, in the order of its requests.
func (a *ActionFiles) Given() []int {
	return []int{int(a.stdin.Fd()), int(a.Stdout.File.Fd()), int(a.Stderr.File.Fd()), int(a.record.Fd())}
}

// Close closes the files, but keeps them.
func (a *ActionFiles) Close() {
	a.Files.Close()
	_, _ = a.stdin.Close(), a.record.Close() // nothing is buffered
}

// Remove removes the files.
func (a *ActionFiles) Remove() error {
	a.Close()
	return os.RemoveAll(a.Dir)
}

// ReadRecord returns what the agent of a shared container has recorded of an action. ok is false if there
// is no record.
func ReadRecord(dir string, request int64) (r agent.Record, ok bool, err error) {
	content, err := os.ReadFile(filepath.Join(ActionDir(dir, request), recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return r, false, nil
	}
	return agent.ReadRecord(content), err == nil, err
}
