package machineid

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"deployster/internal/base/durable"
)

// Of returns the name of the machine with a data directory. It creates both if they do
// not exist. Callers that do so concurrently all get the same name.
func Of(dataDir string) (string, error) {
	path := filepath.Join(dataDir, "id")
	id, err := read(path)
	if !errors.Is(err, os.ErrNotExist) {
		return id, err
	}
	if err := os.MkdirAll(dataDir, 0o755); err != nil {
		return "", err
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // it never returns an error
	mine := hex.EncodeToString(random)
	temporary := path + "." + mine
	if err := durable.WriteFile(temporary, []byte(mine+"\n"), 0o644); err != nil {
		return "", err
	}
	err = os.Link(temporary, path) // the first caller decides
	if removed := os.Remove(temporary); err == nil || errors.Is(err, os.ErrExist) {
		err = removed
	}
	if err != nil {
		return "", err
	}
	return read(path)
}

func read(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(content))
	if id == "" {
		return "", errors.New(path + " is empty: it must have the id of this machine. Remove it to get a new id")
	}
	return id, nil
}
