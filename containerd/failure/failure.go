package failure

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/containerd/errdefs"

	"deployster/internal/base/diag"
)

// Of returns a diagnostic for an error of containerd.
func Of(doing string, err error) error {
	if err == nil {
		return nil
	}
	if diag.Is[*diag.Diagnostic](err) || errors.Is(err, context.Canceled) {
		return err
	}
	return diag.Because(err, doing+" failed", "containerd reported: %s", err)
}

// Sentence returns the text of an error without a full stop at its end, to be followed by one.
func Sentence(err error) string {
	s := strings.TrimRight(err.Error(), ". \n")
	if errors.Is(err, os.ErrPermission) {
		s += " (are you root?)"
	}
	return s
}

// Join joins two errors; if one is nil, it returns the other unchanged.
func Join(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}

// UnlessGone returns nil for an error that reports that something does not exist.
func UnlessGone(err error) error {
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}
