package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// readAnswer reads one line from a terminal until the context ends.
func readAnswer(ctx context.Context, in io.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		line, err := readLine(in)
		read <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case a := <-read:
		return a.line, a.err
	}
}

// hideInput keeps a terminal from showing what is typed, until the returned
// function is called. It comes before the question: a fast typist must not be
// seen either.
func hideInput(in io.Reader) (show func(), err error) {
	file, ok := in.(*os.File)
	if !ok {
		return func() {}, nil
	}
	fd := int(file.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, err
	}
	silent := *before
	silent.Lflag &^= unix.ECHO
	silent.Lflag |= unix.ICANON | unix.ISIG
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &silent); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) }, nil // there is nobody to tell
}

// readLine reads to the end of a line and no further: what follows is the answer
// to another question.
func readLine(in io.Reader) (string, error) {
	var line []byte
	for one := make([]byte, 1); ; {
		n, err := in.Read(one)
		switch {
		case n == 1 && one[0] == '\n':
			return strings.TrimSuffix(string(line), "\r"), nil
		case n == 1:
			line = append(line, one[0])
		case errors.Is(err, io.EOF):
			return "", errors.New("the input ended")
		case err != nil:
			return "", err
		}
	}
}
