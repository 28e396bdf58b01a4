package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"deployster/config"
	"deployster/internal/base/diag"
)

// inputFlag belongs to the commands that ask for variables.
func inputFlag() cli.Flag {
	return &cli.BoolFlag{Name: "input", Value: true, Usage: "on a terminal, ask for variables that have no value (default: true)"}
}

// askVariables asks the person at the terminal for variables that nothing else
// gives a value, when there is such a person and that is all that is wrong.
func (s *session) askVariables(c *cli.Context, m *config.Manifest, diags diag.Diagnostics) ([]config.VarInput, error) {
	wanted := m.Missing()
	failed := 0
	for _, d := range diags {
		if d.Severity == diag.Error {
			failed++
		}
	}
	if !c.Bool("input") || !s.env.Interactive || len(wanted) == 0 || failed != len(wanted) {
		return nil, nil
	}
	var answers []config.VarInput
	for _, v := range wanted {
		s.err.printf("%s", s.err.style.bold("var."+v.Name))
		if v.Type != "" {
			s.err.printf(" %s", s.err.style.dim("("+v.Type+")"))
		}
		s.err.printf("\n")
		if v.Description != "" {
			s.err.printf("  %s\n", strings.ReplaceAll(v.Description, "\n", "\n  "))
		}
		text, err := s.ask(c.Context, v.Sensitive)
		if err != nil {
			if c.Context.Err() != nil {
				return nil, context.Cause(c.Context)
			}
			return nil, diag.Errorf("A variable has no value", "Nothing was typed for var.%s (%s). Nothing was changed.", v.Name, err)
		}
		if v.Sensitive {
			s.vault.add([]string{text})
		}
		answers = append(answers, config.Answered(v.Name, text))
	}
	return answers, nil
}

// ask reads one value.
func (s *session) ask(ctx context.Context, secret bool) (string, error) {
	label := "  Value: "
	if secret {
		show, err := hideInput(s.env.Stdin)
		if err != nil {
			return "", err
		}
		defer show()
		label = "  Value (not shown): "
	}
	s.err.printf("%s", label)
	text, err := readAnswer(ctx, s.env.Stdin)
	if secret || err != nil {
		s.err.printf("\n") // what ended the line was not shown
	}
	return text, err
}

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
