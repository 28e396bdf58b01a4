package packed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Ending is that of the files of compressed programs.
const Ending = ".zst"

// Flag is the first argument of the program that calls Unpack; the second one is the directory.
const Flag = "-unpack"

// chunk is how many bytes of a program one processor compresses at a time.
const chunk = 4 << 20

// Pack returns the compressed content of a file. The same content always gives the same bytes.
func Pack(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	defer func() { _ = encoder.Close() }() // it writes nowhere
	parts := make([][]byte, (len(content)+chunk-1)/chunk)
	var working sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range parts {
		slots <- struct{}{}
		working.Go(func() {
			defer func() { <-slots }()
			parts[i] = encoder.EncodeAll(content[i*chunk:min((i+1)*chunk, len(content))], nil)
		})
	}
	working.Wait()
	return bytes.Join(parts, nil), nil // frames that follow one another are one content
}

// Unpack restores the programs that are compressed in a directory, and removes their compressed files. After an error some
// are restored, some in part: the caller must not use the directory.
func Unpack(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, "*"+Ending))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s has no compressed programs", dir)
	}
	errs := make([]error, len(found))
	var working sync.WaitGroup
	for i, path := range found {
		working.Go(func() { errs[i] = unpack(path) })
	}
	working.Wait()
	return errors.Join(err, errors.Join(errs...))
}

// unpack restores one program.
func unpack(path string) (err error) {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // it was only read
	content, err := zstd.NewReader(from)
	if err != nil {
		return err
	}
	defer content.Close()
	to, err := os.OpenFile(strings.TrimSuffix(path, Ending), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, content)
	if err = errors.Join(err, to.Chmod(0o755), to.Close()); err != nil { // others may have a mask, and containers run it as others
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return os.Remove(path)
}
