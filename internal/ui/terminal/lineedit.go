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
	"deployster/internal/ui/render"
)

const (
	promptFirst = "> "
	promptMore  = "... " // of the further lines of an expression
)

// Console describes a prompt at which texts of one or more lines are typed.
type Console struct {
	Input      *os.File
	History    string                       // the file with what was typed earlier; "" = it is not kept
	Unfinished func(text string) bool       // it goes on in the next line
	Answer     func(text string) (end bool) // is called with each text
}

// Console reads texts from a person until the end, with line editing and history.
// What is typed is seen on stderr, so that stdout has the answers only.
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
	u.Err.Printf("%s\n", render.Dim("Type an expression to see its value, help for help. Ctrl-D ends."))
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

// editLine reads one line, key by key. Only while it does so does the terminal
// leave keys and lines to it: what is printed in between, and a Ctrl-C then, are
// as everywhere.
func editLine(file *os.File, screen *term.Terminal) (string, error) {
	fd := int(file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }() // nothing is left to be done about it
	if width, height, err := term.GetSize(fd); err == nil && width > 0 && height > 0 {
		if err := screen.SetSize(width, height); err != nil {
			return "", err
		}
	}
	return screen.ReadLine()
}

// What a keyboard sends, and what the line editor takes for it: go to the end of
// the line, delete all before it, and enter what is left.
const (
	ctrlC     = 0x03
	clearLine = "\x05\x15\r"
)

// keyboard makes a Ctrl-C throw away what is typed; the line editor would end
// the input there.
type keyboard struct {
	io.Reader
	pending     []byte
	interrupted int // lines still to come that stand for a Ctrl-C
}

// Read gives the keys up to a Ctrl-C, and then what stands for that.
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

// wasInterrupted reports whether the line that was just read is what stands for a
// Ctrl-C.
func (k *keyboard) wasInterrupted() bool {
	if k.interrupted == 0 {
		return false
	}
	k.interrupted--
	return true
}
