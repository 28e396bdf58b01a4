package failure

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/containerd/errdefs"

	"deployster/internal/base/diag"
)

// Of makes a diagnostic of an error of containerd.
func Of(doing string, err error) error {
	if err == nil {
		return nil
	}
	if diag.Is[*diag.Diagnostic](err) || errors.Is(err, context.Canceled) {
		return err
	}
	return diag.Because(err, doing+" failed", "containerd said: %s", err)
}

// Sentence makes the text of an error fit to be followed by a full stop.
func Sentence(err error) string {
	s := strings.TrimRight(err.Error(), ". \n")
	if errors.Is(err, os.ErrPermission) {
		s += " (are you root?)"
	}
	return s
}

// Join puts two errors together, and leaves one as it is.
func Join(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}

// UnlessGone leaves out that something is not there (any more).
func UnlessGone(err error) error {
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}
