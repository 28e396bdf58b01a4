package place

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
	"deployster/kube/internal/api"
)

// unavailable is an error of a call that could not reach its Pod. It is sent as a *runner.HostError.
type unavailable struct {
	text  string
	cause error // nil = there is no more than the text
}

func (e *unavailable) Error() string { return e.text }

// Unwrap returns the cause.
func (e *unavailable) Unwrap() error { return e.cause }

// As makes it a *runner.HostError.
func (e *unavailable) As(target any) bool {
	host, is := target.(**runner.HostError)
	if is {
		*host = &runner.HostError{Err: errors.New(e.text)}
	}
	return is
}

// unreachable returns the error for a request that the API server did not carry out.
func unreachable(err error) error { return &unavailable{answered(err).Error(), err} }

// answered describes an error of the API server.
func answered(err error) error {
	if apierrors.IsUnauthorized(err) {
		return fmt.Errorf("the API server does not accept the credentials, which may have expired: %w. `kubectl auth whoami` shows "+
			"whether it does", err)
	}
	if diag.Is[*api.CredentialsError](err) {
		return err
	}
	return fmt.Errorf("API server: %w", err)
}

// refused returns the error for a client that may not act any more.
func refused(err error) error { return &unavailable{err.Error(), err} }

// impossible returns the error for what no Pod can have.
func impossible(err error) error {
	return &runner.StartError{Fault: runner.NotPossible, Text: err.Error()}
}
