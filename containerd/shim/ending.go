package shim

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"
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
	f, err := os.CreateTemp(dir, "."+endingFile+"-*")
	if err != nil {
		return err
	}
	err = errors.Join(json.NewEncoder(f).Encode(e), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, endingFile))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// ReadEnding gives what WriteEnding wrote. It is not ok when nothing was.
func ReadEnding(dir string) (e Ending, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, endingFile))
	return e, err == nil && json.Unmarshal(b, &e) == nil
}
