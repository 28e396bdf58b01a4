package watchclient

import (
	"bytes"
	"errors"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/typeclient"
)

// The reasons why a watch is refused or its program is ended. The errors of Watch wrap them.
var (
	ErrCrowded  = errors.New("the limit of watch processes of its type is reached")
	ErrFlooding = errors.New("it printed more than 1,000 lines a second for ten seconds")
	ErrClosed   = errors.New("nothing is watched any more")

	errStuck   = errors.New("it does not read its requests")
	errEndless = errors.New("it did not end a watch within ten seconds")
)

// endError reports how a program ended, or why it could not be started.
type endError struct {
	result runner.Result
	err    error
}

func (e *endError) Error() string { return "it has ended" }

// badLine is a line that breaks the protocol.
type badLine struct {
	err  error
	line []byte
}

func newBadLine(line []byte, err error) error { return &badLine{err: err, line: bytes.Clone(line)} }

func (b *badLine) Error() string { return b.err.Error() }

// failure returns the error of Watch for a resource whose watch has ended. It shows a part of
// what the program printed, so secrets are hidden here: they are not recognised in a part.
func (c *Client) failure(of subject, why error) error {
	var end *endError
	var bad *badLine
	switch {
	case errors.As(why, &end) && errors.Is(end.err, runner.ErrReplaced):
		return typeclient.WatchStopped(of.address, of.reference, end.err)
	case errors.As(why, &end):
		result := end.result
		result.Stderr = []byte(c.o.Hide(string(result.Stderr)))
		return typeclient.WatchEnded(of.address, of.reference, of.digest, result, end.err)
	case errors.As(why, &bad):
		return typeclient.WatchBroken(of.address, of.reference, []byte(c.o.Hide(string(bad.line))), bad.err)
	case errors.Is(why, errLong):
		return typeclient.WatchBroken(of.address, of.reference, nil, why)
	case errors.Is(why, ErrClosed):
		return why
	}
	return typeclient.WatchStopped(of.address, of.reference, why)
}
