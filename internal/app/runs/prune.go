package runs

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"deployster/internal/base/durable"
)

// names returns the names of the runs below a directory, newest first. The names sort by time.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			list = append(list, e.Name())
		}
	}
	slices.Sort(list)
	slices.Reverse(list)
	return list, nil
}

// prune removes old runs and keeps the newest ones. own is the run that has just ended.
// prune never removes or counts a run that is still in progress.
func prune(dir string, own Run) error {
	list, err := names(dir)
	if err != nil {
		return err
	}
	if left, _ := filepath.Glob(filepath.Join(durable.Pattern(dir), removedPrefix+"*")); len(left) > 0 {
		for _, path := range left {
			err = errors.Join(err, os.RemoveAll(path)) // the process that removed it was killed
		}
	}
	kept, bytes := map[bool]int{own.Command == Watch: 1}, own.Bytes // by whether they are runs of a watch
	for _, name := range list {
		path := filepath.Join(dir, name)
		if name == own.ID || isRunning(path) {
			continue
		}
		run := readRun(path)
		watch := run.Command == Watch
		kept[watch]++
		bytes += run.Bytes
		if !watch && kept[watch] > Keep || watch && kept[watch] > KeepRepairs || bytes > KeepBytes {
			err = errors.Join(err, remove(dir, name))
		}
	}
	return err
}

// removedPrefix is the prefix of the name of a run that is being removed.
const removedPrefix = ".removed-"

// remove removes a run. It renames the run first, so that readers never find a part of it.
func remove(dir, name string) error {
	gone := filepath.Join(dir, removedPrefix+name)
	err := os.Rename(filepath.Join(dir, name), gone)
	if errors.Is(err, os.ErrNotExist) {
		return nil // another command has removed it
	} else if err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// beginning is how long a run may take to lock its directory and write run.json.
const beginning = time.Minute

// isRunning reports whether the run in a directory is in progress: its process holds a
// lock, or has just created the directory and has not locked it yet.
func isRunning(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // this unlocks it
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true
	}
	if _, err := os.Stat(filepath.Join(path, runName)); !errors.Is(err, os.ErrNotExist) {
		return false
	}
	made, err := f.Stat()
	return err == nil && time.Since(made.ModTime()) < beginning
}

// readRun reads run.json. A directory without run.json still counts as a run.
func readRun(path string) Run {
	run := Run{Status: Unknown}
	if content, err := os.ReadFile(filepath.Join(path, runName)); err == nil && json.Unmarshal(content, &run) != nil {
		run = Run{Status: Unknown}
	}
	run.ID, run.dir = filepath.Base(path), path
	if run.Ended == nil && run.Status == Running {
		run.Status = Died
	}
	return run
}
