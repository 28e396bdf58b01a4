package ssh

import (
	"errors"
	"fmt"
	"os"
)

// keysFile is a known_hosts file.
type keysFile struct {
	path  string
	close func()
}

// keysOnDisk writes a known_hosts file to the disk. It stays if this process is killed: it has nothing secret.
func keysOnDisk(text string) (*keysFile, error) {
	file, err := os.CreateTemp("", "deployster-known-hosts-*")
	if err != nil {
		return nil, fmt.Errorf("cannot write down the key of a host: %w", err)
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(file.Name()))
	}
	return &keysFile{file.Name(), func() { _ = os.Remove(file.Name()) }}, nil // it was only read
}
