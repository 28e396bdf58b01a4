package packed

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Ending is that of the files of compressed programs.
const Ending = ".zst"

// Restorer is the name of the program that restores the others. It is the first file of their archive, and not compressed.
const Restorer = "deployster-agent"

// Head is the name of the file with the beginning of an archive: the header of the restorer, of HeadSize bytes, and itself.
const (
	Head     = "bundle"
	HeadSize = 512
)

// Flag is the first argument of the restorer where it restores. The others are those of Restore.
const Flag = "-unpack"

// chunk is how many bytes of a program one processor compresses at a time.
const chunk = 4 << 20

// Pack returns the compressed content of a file: fast, or else as small as it gets. The same content always gives the
// same bytes.
func Pack(path string, best bool) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	level := zstd.SpeedFastest
	if best {
		level = zstd.SpeedBestCompression
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithWindowSize(1<<20),
		zstd.WithEncoderCRC(false)) // the whole archive has a checksum
	if err != nil {
		return nil, err
	}
	defer func() { _ = encoder.Close() }() // it writes nowhere
	parts := make([][]byte, (info.Size()+chunk-1)/chunk)
	errs := make([]error, len(parts))
	var working sync.WaitGroup
	pieces := make(chan []byte, runtime.GOMAXPROCS(0))
	for range cap(pieces) {
		pieces <- make([]byte, chunk)
	}
	for i := range parts {
		piece := <-pieces
		working.Go(func() {
			defer func() { pieces <- piece }()
			from := int64(i) * chunk
			content := piece[:min(chunk, info.Size()-from)]
			_, errs[i] = io.ReadFull(io.NewSectionReader(file, from, chunk), content)
			parts[i] = encoder.EncodeAll(content, make([]byte, 0, len(content)/2))
		})
	}
	working.Wait()
	return bytes.Join(parts, nil), errors.Join(errs...) // frames that follow one another are one content
}

// Restore is the restorer with the arguments after Flag: the directory, the archive's checksum and its size.
func Restore(args []string, from io.Reader) error {
	if len(args) != 3 {
		return errors.New("usage: " + Restorer + " " + Flag + " DIRECTORY SHA256 SIZE")
	}
	size, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	return Unpack(args[0], args[1], size, from)
}

// Unpack restores programs in a directory while their archive comes: the directory has its head already. It
// reads no byte after the archive. After an error some programs are restored, some in part: the caller must not use the
// directory.
func Unpack(dir, sum string, size int64, from io.Reader) error {
	head, err := os.ReadFile(filepath.Join(dir, Head))
	if err != nil {
		return err
	}
	hash, had := sha256.New(), int64(len(head))
	_, _ = hash.Write(head) // a hash takes everything
	rest := bufio.NewReaderSize(io.TeeReader(io.LimitReader(from, size-had), hash), 256<<10)
	if _, err := rest.Discard(int(-had & (HeadSize - 1))); err != nil && !errors.Is(err, io.EOF) { // until the next header
		return err
	}
	if err := restoreAll(dir, tar.NewReader(rest)); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, rest); err != nil {
		return err
	}
	if hex.EncodeToString(hash.Sum(nil)) != sum {
		return errors.New("the programs were changed or cut while they were sent: their checksum is another one")
	}
	return nil
}

// restoreAll restores the programs of an archive.
func restoreAll(dir string, archive *tar.Reader) error {
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = restore(dir, h.Name, archive)
		}
		if err != nil {
			return err
		}
	}
}

// restore restores one program from its compressed content.
func restore(dir, name string, from io.Reader) error {
	program, compressed := strings.CutSuffix(name, Ending)
	if !compressed || !filepath.IsLocal(program) {
		return fmt.Errorf("%q is not the name of a compressed program", name)
	}
	content, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1)) // the others wait for what comes
	if err != nil {
		return err
	}
	defer content.Close()
	to, err := os.OpenFile(filepath.Join(dir, program), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, content)
	if err = errors.Join(err, to.Chmod(0o755), to.Close()); err != nil { // others may have a mask, and containers run it as others
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}
