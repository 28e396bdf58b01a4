package systemd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"deployster/machine/internal/access"
	"deployster/machine/internal/replace"
	"deployster/protocol"
)

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30
)

func bytesOf(size string) int64 {
	n, _ := strconv.ParseInt(strings.TrimRight(size, "MG"), 10, 32) // the schema has checked it
	if strings.HasSuffix(size, "G") {
		return n * gibibyte
	}
	return n * mebibyte
}

// sizeText writes a size as a config does.
func sizeText(n int64, wish string) string {
	switch {
	case wish != "" && bytesOf(wish) == n:
		return wish
	case n%gibibyte == 0 && n > 0:
		return fmt.Sprintf("%dG", n/gibibyte)
	}
	return fmt.Sprintf("%dM", n/mebibyte)
}

// checkFile refuses what is at the path and holds no swap: mkswap would overwrite it.
func (k Swap) checkFile(c *swapCall, info fs.FileInfo) error {
	device := info.Mode()&fs.ModeDevice != 0 && info.Mode()&fs.ModeCharDevice == 0
	switch {
	case c.Intent == protocol.Absent:
		return nil
	case !info.Mode().IsRegular() && !device:
		return protocol.Errorf(protocol.ConfigError, "/path", "%s is neither a file nor a block device", c.Config.Path)
	case device && c.Config.Size != "":
		return protocol.Errorf(protocol.ConfigError, "/size", "%s is a device, which has its size: omit size", c.Config.Path)
	}
	file, err := os.Open(k.machine.Path(c.Config.Path))
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	magic, page := make([]byte, len(swapMagic)), os.Getpagesize()
	if _, err := file.ReadAt(magic, int64(page-len(swapMagic))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(magic) != swapMagic {
		return protocol.Errorf(protocol.ConfigError, "/path", "%s exists and holds no swap, which would overwrite it: run mkswap on it "+
			"yourself, or remove it", c.Config.Path)
	}
	return nil
}

// swapMagic ends the first page of a swap file.
const swapMagic = "SWAPSPACE2"

// used returns whether the kernel swaps to a path, and its priority.
func (k Swap) used(path string) (active bool, priority *int, err error) {
	text, err := os.ReadFile(k.machine.Path("/proc/swaps"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, protocol.Errorf(protocol.ConfigError, "", "the kernel of this machine has no swap")
	}
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`)
	real, _ := filepath.EvalSymlinks(k.machine.Path(path)) // an error: it does not exist yet
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 5 || unescape.Replace(words[0]) != path && (real == "" || k.machine.Path(unescape.Replace(words[0])) != real) {
			continue
		}
		n, err := strconv.Atoi(words[4])
		return true, &n, err
	}
	return false, nil, err
}

// swapMode is the mode of swap files: they hold what is in memory.
const swapMode = 0o600

// off has the kernel not use it any more.
func (k Swap) off(ctx context.Context, c SwapConfig) error {
	return k.machine.Run(ctx, access.Command{Args: []string{"swapoff", "--", c.Path}})
}

// make writes the file beside its place, without holes, and moves it there when it holds a swap.
func (k Swap) make(ctx context.Context, c SwapConfig) (err error) {
	directory := filepath.Dir(c.Path)
	if _, err := os.Stat(k.machine.Path(directory)); err != nil {
		return fmt.Errorf("the directory %s does not exist: declare it as a resource of the kind directory: %w", directory, err)
	}
	beside := filepath.Join(directory, "."+filepath.Base(c.Path)+".deployster-new")
	if err := replace.Remove(k.machine, beside); err != nil { // of an earlier run
		return err
	}
	file, err := os.OpenFile(k.machine.Path(beside), os.O_WRONLY|os.O_CREATE|os.O_EXCL, swapMode)
	if err != nil {
		return err
	}
	defer func() {
		_ = file.Close()
		if err != nil {
			err = errors.Join(err, os.Remove(k.machine.Path(beside)))
		}
	}()
	zeros := bytes.Repeat([]byte{0}, mebibyte)
	for done := int64(0); done < bytesOf(c.Size); done += mebibyte {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, err := file.Write(zeros); err != nil {
			return fmt.Errorf("%s cannot be made: %w", c.Path, err)
		}
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := k.machine.Run(ctx, access.Command{Args: []string{"mkswap", "--", k.machine.Path(beside)}}); err != nil {
		return err
	}
	return os.Rename(k.machine.Path(beside), k.machine.Path(c.Path))
}
