package place

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"deployster/internal/base/durable"
)

// outputs is the file next to a state file that has what the state publishes.
func (f localFile) outputs() string { return f.state + ".outputs" }

func (f localFile) ReadOutputs() ([]byte, error) { return os.ReadFile(f.outputs()) }

// WriteOutputs keeps the permissions of the file: others than those who may read the state may be allowed to read it.
func (f localFile) WriteOutputs(_ uint64, data []byte) error {
	mode := os.FileMode(0o600)
	if info, err := os.Stat(f.outputs()); err == nil {
		mode = info.Mode().Perm()
	}
	return durable.WriteFile(f.outputs(), data, mode)
}

func (f localFile) RemoveOutputs() error { return durable.Remove(f.outputs()) }

// isOutputs reports whether a file in the directory of the state has this name.
func (f localFile) isOutputs(name string) bool { return name == filepath.Base(f.outputs()) }

// ReadOutputs neither locks nor reads the log: other rights than those of the state are enough.
func (b *remote) ReadOutputs() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), reading)
	defer cancel()
	data, err := b.log.Outputs(ctx)
	if errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return data, b.word(err)
}

func (b *remote) WriteOutputs(serial uint64, data []byte) error {
	return b.word(b.claim.Publish(serial, data))
}

func (b *remote) RemoveOutputs() error { return b.word(b.claim.Unpublish()) }
