package pipe

import (
	"errors"
	"fmt"
	"io/fs"

	"deployster/internal/base/sharedlog"
)

// request is one call, or the cancellation of one.
type request struct {
	ID   uint64 `json:"id"`
	Op   op     `json:"op"`
	Key  string `json:"key,omitempty"` // of the object, or the prefix of a list
	Data []byte `json:"data,omitempty"`
}

// op is the operation of a request.
type op string

const (
	opCreate op = "create"
	opGet    op = "get"
	opList   op = "list"
	opDelete op = "delete"
	opCancel op = "cancel" // cancels the call with this ID
)

// answer is the result of a call.
type answer struct {
	ID    uint64   `json:"id"`
	Data  []byte   `json:"data,omitempty"`
	Keys  []string `json:"keys,omitempty"`
	Kind  string   `json:"kind,omitempty"` // of the error: one of kinds, or "other"
	Error string   `json:"error,omitempty"`
}

// kinds returns the errors that keep their meaning for the caller, by name.
func kinds() map[string]error {
	return map[string]error{"exists": sharedlog.ErrExists, "none": fs.ErrNotExist, "denied": sharedlog.ErrDenied}
}

// fail puts an error into the answer.
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

// remote is an error of the server's side.
type remote struct {
	text string
	kind error
}

func (e *remote) Error() string { return e.text }
func (e *remote) Unwrap() error { return e.kind }

// err returns the error that the server's side has put into the answer.
func (a *answer) err() error {
	if a.Kind == "" {
		return nil
	}
	kind := kinds()[a.Kind]
	if kind == nil {
		kind = fmt.Errorf("the store reported")
	}
	return &remote{text: a.Error, kind: kind}
}
