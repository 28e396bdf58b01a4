package shim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"deployster/internal/base/durable"
)

// endingFile lies beside the standard files of a run. It tells how the run ended,
// for those who come when its client is dead, and is written by whoever is the
// first to know.
const endingFile = "ending"

// Ending is how a program ended by itself.
type Ending struct {
	Code int       `json:"code"`
	At   time.Time `json:"at"`
}

// WriteEnding writes it down in the directory of a run's standard files. It is
// not synced: where those files lie, nothing outlives the machine's next start.
func WriteEnding(dir string, e Ending) error {
	content, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return durable.WriteUnsynced(filepath.Join(dir, endingFile), content, 0o600)
}

// ReadEnding returns what WriteEnding wrote. It is not ok when nothing was.
func ReadEnding(dir string) (e Ending, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, endingFile))
	return e, err == nil && json.Unmarshal(b, &e) == nil
}
