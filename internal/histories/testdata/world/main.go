// Command world is the image of all kinds of things, for real containers. The
// world is a directory: one file for each thing, and a log.
package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"deployster/internal/histories"
)

// dir is where the world's plug is mounted.
type dir string

func (d dir) file(name string) string { return filepath.Join(string(d), url.PathEscape(name)+".json") }

// Load implements histories.Store.
func (d dir) Load(name string) (t histories.Thing, err error) {
	data, err := os.ReadFile(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	return t, err
}

// Save implements histories.Store.
func (d dir) Save(name string, t histories.Thing) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return os.WriteFile(d.file(name), data, 0o600)
}

func main() {
	os.Exit(histories.Program(dir("/things"), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
