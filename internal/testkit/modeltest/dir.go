package modeltest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// Dir is a Store in a directory: one file for each thing. It is the world of
// real containers, which have it mounted.
type Dir string

func (d Dir) file(name string) string { return filepath.Join(string(d), url.PathEscape(name)+".json") }

// Load implements Store.
func (d Dir) Load(name string) (t Thing, err error) {
	data, err := os.ReadFile(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	return t, err
}

// Save implements Store.
func (d Dir) Save(name string, t Thing) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return os.WriteFile(d.file(name), data, 0o600)
}
