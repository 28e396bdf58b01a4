package sweep

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"deployster/internal/base/proc"
)

// endFirst ends the first processes of containers, which runc has recorded. Where there are no cgroups,
// without root, this is the only trace of a container whose shim is gone: all other processes of the
// container end with the first one.
func (w Sweeper) endFirst(of func(id string) bool) error {
	files, err := filepath.Glob(filepath.Join(w.RuntimeDir, "runc", w.Namespace, "*", "state.json"))
	errs := []error{err}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || !of(filepath.Base(filepath.Dir(file))) {
			continue // runc has removed it, or it is another container
		}
		var first struct {
			PID     int    `json:"init_process_pid"`
			Started uint64 `json:"init_process_start"`
		}
		if json.Unmarshal(content, &first) != nil {
			continue // runc was killed before it had written it, and so has begun nothing
		}
		if proc.Of(first.PID).Since() == strconv.FormatUint(first.Started, 10) { // else it has ended
			errs = append(errs, endProcess(strconv.Itoa(first.PID)))
		}
	}
	return errors.Join(errs...)
}
