package ssh

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"deployster/internal/base/diag"
	"deployster/internal/base/loglines"
	"deployster/internal/runtime/remote"
)

// begin sends the program if the host lacks it, and waits until the agent is ready. A login
// profile may print anything before, also on the same line.
func (s *session) begin(bundles map[string]Bundle, own string) error {
	limit := time.AfterFunc(greeting, s.ssh.Kill)
	defer limit.Stop()
	var sending Bundle
	var wrong []string // why the script cannot install the program
	for {
		read, err := s.ssh.ReadSlice('\n') // the buffer holds at most maxNoise
		noise, what, text := marked(strings.TrimRight(string(read), "\r\n"))
		if s.heard += len(read); s.heard > maxNoise || errors.Is(err, bufio.ErrBufferFull) {
			s.printed.Write([]byte(noise)) // never fails
			return fmt.Errorf("it prints more than %d bytes and is not deployster", maxNoise)
		}
		if noise != "" {
			fmt.Fprintln(s.printed, noise) // never fails
		}
		switch {
		case what == remote.Ready:
			return nil
		case what == sayHave:
			limit.Reset(greeting)
		case what == sayNeed:
			b, found := bundles[strings.TrimPrefix(text, "Linux/")]
			if !found {
				return wrongPlatform(text, own)
			}
			limit.Reset(installing)
			sending = b
			if err := s.send(b, fmt.Sprintln(b.Size), 0, cmp.Or(b.First, b.Size)); err != nil {
				return err
			}
		case what == sayMore:
			if err := s.send(sending, "", sending.First, sending.Size); err != nil {
				return err
			}
			sending = Bundle{} // it is sent once
		case what == sayWrong:
			wrong = append(wrong, text)
		}
		switch {
		case err != nil && wrong != nil:
			return fmt.Errorf("deployster cannot be installed there: %s", diag.Visible(cause(wrong)))
		case err != nil:
			return err
		}
	}
}

// marked splits a line that the host printed: what begins it, the marker that follows, and the text
// after the marker. Without a marker all of it is noise.
func marked(line string) (noise, marker, text string) {
	for _, last := range []string{remote.Ready, sayHave, sayMore} {
		if noise, found := strings.CutSuffix(line, last); found {
			return noise, last, ""
		}
	}
	for _, begin := range []string{sayNeed, sayWrong} {
		if noise, text, found := strings.Cut(line, begin); found {
			return noise, begin, text
		}
	}
	return line, "", ""
}

// cause returns the line of the programs on the host that names the cause: the one about a full disk
// if there is one, else the first that is not a consequence.
func cause(lines []string) string {
	for _, full := range []string{"No space left on device", "quota exceeded"} {
		for _, line := range lines {
			if strings.Contains(line, full) {
				return line
			}
		}
	}
	for _, line := range lines {
		if strings.TrimSpace(line) != "" && !strings.Contains(line, "Exiting with failure status") && !strings.Contains(line,
			"Broken pipe") {
			return line
		}
	}
	return lines[len(lines)-1]
}

// said returns what the host printed before the agent was ready, in one line; "" = nothing.
func (s *session) said() string {
	var lines []string
	w := loglines.New(func(line string) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	})
	_, _ = w.Write(s.printed.Bytes()) // never fails
	w.Flush()
	text := strings.Join(lines[max(0, len(lines)-maxSaid):], " | ")
	if len(text) > maxSaidBytes {
		text = strings.ToValidUTF8(text[:maxSaidBytes], "") + "..."
	}
	return text
}

// The limits of what is shown of the output of a login profile.
const (
	maxSaid      = 5 // lines
	maxSaidBytes = 500
)

// wrongPlatform returns the error for a host without a bundle, with the name of the file that would have it.
func wrongPlatform(platform, own string) error {
	text := fmt.Sprintf("it is %s, and this deployster is for Linux/%s", diag.Visible(platform), own)
	for arch, machine := range machines {
		if platform == "Linux/"+machine {
			text += fmt.Sprintf(": %s is not installed with it", otherName(arch))
		}
	}
	return errors.New(text)
}

// send sends the script a line, and a part of the bundle. Where the host has ended, it prints why.
func (s *session) send(b Bundle, line string, from, to int64) error {
	if to <= from {
		return nil
	}
	file, err := os.Open(b.Path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	_, err = io.Copy(s.ssh, io.MultiReader(strings.NewReader(line), io.NewSectionReader(file, from, to-from)))
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// explain returns why a host was not reached, with the last message of ssh.
func (s *session) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	reason := s.ssh.LastError()
	if reason == "" || !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		text := err.Error()
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			text = fmt.Sprintf("the connection ended before deployster answered; the limit is %s", greeting)
		}
		if reason != "" {
			text += "; " + reason
		}
		reason = text
	}
	if said := s.said(); said != "" {
		reason += "; it printed: " + said
	}
	return &remote.UnreachableError{Reason: reason}
}
