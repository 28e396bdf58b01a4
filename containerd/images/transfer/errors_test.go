package transfer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/containerd/containerd/v2/core/remotes/docker"
	remoteerrors "github.com/containerd/containerd/v2/core/remotes/errors"
	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"

	"deployster/containerd/registry"
	"deployster/internal/runtime/runner"
)

// Each way in which a pull fails, whether it is tried again, and what the user
// is told to do.
func TestPullErrors_NameTheFixAndWhetherARetryHelps(t *testing.T) {
	r := registry.New(registry.Options{CertDirs: []string{"/a", "/etc/docker/certs.d"}, DockerConfig: "/home/me/.docker/config.json"})
	at := func(err error) error {
		return fmt.Errorf("failed to do request: %w", &url.Error{Op: "Get", URL: "https://reg.example.com/v2/?token=geheim", Err: err})
	}
	status := func(code int, text string) error {
		return remoteerrors.ErrUnexpectedStatus{Status: text, StatusCode: code, RequestURL: "https://reg.example.com/?token=geheim"}
	}
	for name, c := range map[string]struct {
		err       error
		transient bool
		want      string
	}{
		"no host":           {at(&net.DNSError{Err: "no such host", Name: "reg.example.com", IsNotFound: true}), false, "There is no host reg.example.com"},
		"no answer of DNS":  {at(&net.DNSError{Err: "timeout", Name: "reg.example.com", IsTemporary: true}), true, "cannot be reached"},
		"refused":           {at(syscall.ECONNREFUSED), false, "connection refused"},
		"reset":             {at(syscall.ECONNRESET), true, "the connection was cut"},
		"cut":               {fmt.Errorf("copy: %w", io.ErrUnexpectedEOF), true, "kept for a day"},
		"stalled":           {ErrStalled, true, "sent nothing for a minute"},
		"time is up":        {at(&net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}), true, "cannot be reached"},
		"unknown authority": {at(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), false, "/etc/docker/certs.d/reg.example.com/ca.crt"},
		"another name":      {at(x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"b"}}, Host: "reg.example.com"}), false, "is for another name"},
		"expired":           {at(x509.CertificateInvalidError{Reason: x509.Expired}), false, "expired"},
		"client wanted":     {at(tls.AlertError(116)), false, "client.cert"},
		"plain HTTP":        {at(errors.New("http: server gave HTTP response to HTTPS client")), false, `server = "http://reg.example.com"`},
		"unauthorized":      {status(401, "401 Unauthorized"), false, "docker login reg.example.com"},
		"forbidden":         {status(403, "403 Forbidden"), false, "has none for reg.example.com"},
		"bad token":         {fmt.Errorf("x: %w", docker.ErrInvalidAuthorization), false, "denies access"},
		"too many":          {status(429, "429 Too Many Requests"), true, "too many requests"},
		"broken registry":   {status(502, "502 Bad Gateway"), true, "502 Bad Gateway"},
		"bad request":       {status(400, "400 Bad Request"), false, "400 Bad Request"},
		"refused image":     {&RefusedError{"it has 500 layers"}, false, "It has 500 layers."},
		"lease gone":        {errdefs.ErrNotFound.WithMessage("lease does not exist: not found"), true, "Other pulls of the same image ended"},
		"other content":     {errors.Join(&ContentError{digest.FromString("x")}), false, "broken or hostile"},
	} {
		if got := Transient(c.err); got != c.transient {
			t.Errorf("%s: transient %t, want %t", name, got, c.transient)
		}
		err := Failure(t.Context(), r, "reg.example.com/acme/file:1", c.err)
		if text := err.Error(); !strings.Contains(text, c.want) || !strings.Contains(text, "reg.example.com/acme/file:1") || strings.Contains(text, "geheim") {
			t.Errorf("%s: %s", name, text)
		}
		if errors.Is(err, runner.ErrNoImage) {
			t.Errorf("%s counts as: there is none", name)
		}
	}
	if err := Failure(t.Context(), r, "127.0.0.1:1/acme/file:1", fmt.Errorf("x: %w", errdefs.ErrNotFound)); !errors.Is(err, runner.ErrNoImage) {
		t.Errorf("there is none: %v", err)
	}
	if err := Failure(t.Context(), r, "a/b", context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// Where another machine sends the image there is no registry that could be blamed.
func TestShipFailure_BlamesNoRegistry(t *testing.T) {
	t.Parallel()
	err := ShipFailure("acme/db:1", fmt.Errorf("reading: %w", ErrStalled))
	if err == nil || strings.Contains(err.Error(), "registry") || !strings.Contains(err.Error(), "acme/db:1 to this host") {
		t.Errorf("it says %v", err)
	}
	if err := ShipFailure("acme/db:1", nil); err != nil {
		t.Errorf("nothing failed, and it says %v", err)
	}
}
