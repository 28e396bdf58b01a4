package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"deployster/internal/base/diag"
	"deployster/internal/ui/paint"
)

const (
	promptFirst = "> "
	promptMore  = "... " // for the further lines of an expression
)

// Console describes a prompt for texts of one or more lines.
type Console struct {
	Input      *os.File
	History    string                       // the file with earlier inputs; "" = they are not kept
	Unfinished func(text string) bool       // reports whether the text continues on the next line
	Answer     func(text string) (end bool) // is called with each complete text
}

// Console reads texts from a person until the end, with line editing and history. The
// input is echoed on stderr, so that stdout has only the answers.
func (u *UI) Console(ctx context.Context, c Console) error {
	history, warning := openHistory(c.History)
	defer history.close()
	keys := &keyboard{Reader: c.Input}
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, u.stderr}, promptFirst)
	screen.History = history
	u.Err.Diagnostics(warning)
	u.Err.Printf("%s\n", paint.Dim("Type an expression to see its value, help for help. Ctrl-D ends."))
	var typed []string
	for ctx.Err() == nil {
		line, err := editLine(c.Input, screen)
		switch {
		case keys.wasInterrupted():
			typed = nil
			screen.SetPrompt(promptFirst)
			continue
		case errors.Is(err, io.EOF):
			u.Err.Printf("\n")
			return nil
		case err != nil && !errors.Is(err, term.ErrPasteIndicator):
			return diag.Errorf("Cannot read from the terminal", "%s.", err)
		}
		typed = append(typed, line)
		text := strings.Join(typed, "\n")
		if c.Unfinished(text) {
			screen.SetPrompt(promptMore)
			continue
		}
		typed = nil
		screen.SetPrompt(promptFirst)
		if c.Answer(text) {
			return nil
		}
	}
	return context.Cause(ctx)
}

// editLine reads one line, key by key. The terminal is in raw mode only meanwhile: output
// in between, and a Ctrl-C then, work as usual.
func editLine(file *os.File, screen *term.Terminal) (string, error) {
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }() // a failure cannot be handled here
	if width, height, err := term.GetSize(fd); err == nil && width > 0 && height > 0 {
		if err := screen.SetSize(width, height); err != nil {
			return "", err
		}
	}
	return screen.ReadLine()
}

// A Ctrl-C of the keyboard, and the keys that replace it for the line editor: go to the
// end of the line, delete everything before it, and enter the empty line.
const (
	ctrlC     = 0x03
	clearLine = "\x05\x15\r"
)

// keyboard makes a Ctrl-C discard the typed line; the line editor itself would end the
// input.
type keyboard struct {
	io.Reader
	pending     []byte
	interrupted int // pending lines that stand for a Ctrl-C
}

// Read returns the keys up to a Ctrl-C, and then the keys that replace it.
func (k *keyboard) Read(buf []byte) (int, error) {
	if len(k.pending) == 0 {
		keys := make([]byte, len(buf))
		n, err := k.Reader.Read(keys)
		if n == 0 || err != nil {
			return 0, err
		}
		k.pending = keys[:n]
	}
	if k.pending[0] == ctrlC {
		k.pending = append([]byte(clearLine), k.pending[1:]...)
		k.interrupted++
	}
	n := len(k.pending)
	if i := bytes.IndexByte(k.pending, ctrlC); i >= 0 {
		n = i
	}
	n = copy(buf, k.pending[:n])
	k.pending = k.pending[n:]
	return n, nil
}

// wasInterrupted reports whether the line that was just read stands for a Ctrl-C.
func (k *keyboard) wasInterrupted() bool {
	if k.interrupted == 0 {
		return false
	}
	k.interrupted--
	return true
}
