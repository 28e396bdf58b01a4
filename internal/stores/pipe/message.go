package pipe

import (
	"errors"
	"fmt"
	"io/fs"

	"deployster/internal/sharedlog"
)

// request is one call, or the end of the caller's interest in one.
type request struct {
	ID   uint64 `json:"id"`
	Op   op     `json:"op"`
	Key  string `json:"key,omitempty"` // or the prefix of a list
	Data []byte `json:"data,omitempty"`
}

// op is what is asked for.
type op string

const (
	opCreate op = "create"
	opGet    op = "get"
	opList   op = "list"
	opDelete op = "delete"
	opCancel op = "cancel" // the call with this id
)

// answer is what a call gave.
type answer struct {
	ID    uint64   `json:"id"`
	Data  []byte   `json:"data,omitempty"`
	Keys  []string `json:"keys,omitempty"`
	Kind  string   `json:"kind,omitempty"` // of the error: one of kinds, or "other"
	Error string   `json:"error,omitempty"`
}

// kinds are the errors that mean something to callers.
func kinds() map[string]error {
	return map[string]error{"exists": sharedlog.ErrExists, "none": fs.ErrNotExist, "denied": sharedlog.ErrDenied}
}

// fail words an error for the other side.
func (a *answer) fail(err error) {
	if err == nil {
		return
	}
	a.Kind, a.Error = "other", err.Error()
	for name, known := range kinds() {
		if errors.Is(err, known) {
			a.Kind = name
		}
	}
}

// remote is an error of the other side.
type remote struct {
	text string
	kind error
}

func (e *remote) Error() string { return e.text }
func (e *remote) Unwrap() error { return e.kind }

// err is the error that the other side has worded.
func (a *answer) err() error {
	if a.Kind == "" {
		return nil
	}
	kind := kinds()[a.Kind]
	if kind == nil {
		kind = fmt.Errorf("the store says")
	}
	return &remote{text: a.Error, kind: kind}
}
