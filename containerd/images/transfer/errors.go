package transfer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/remotes/docker"
	remoteerrors "github.com/containerd/containerd/v2/core/remotes/errors"
	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/failure"
	"deployster/containerd/registry"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"
)

// ContentError reports that the content from a registry does not have the requested digest.
type ContentError struct{ Digest digest.Digest }

func (e *ContentError) Error() string {
	return fmt.Sprintf("what the registry sent is not %s", e.Digest)
}

// Transient reports whether the next attempt may succeed after an error.
func Transient(err error) bool {
	var (
		dns    *net.DNSError
		status remoteerrors.ErrUnexpectedStatus
	)
	switch {
	case LeaseGone(err):
		return true
	case diag.Is[*RefusedError](err), diag.Is[*ContentError](err), diag.Is[*diag.Diagnostic](err):
		return false
	case errors.As(err, &status):
		return status.StatusCode >= 500 || status.StatusCode == http.StatusTooManyRequests || status.StatusCode == http.StatusRequestTimeout
	case errors.As(err, &dns):
		return dns.IsTemporary && !dns.IsNotFound
	case isTLS(err), errors.Is(err, docker.ErrInvalidAuthorization), errors.Is(err, syscall.ECONNREFUSED):
		return false
	case errors.Is(err, ErrStalled), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errdefs.IsUnavailable(err):
		return true
	}
	return diag.Is[net.Error](err)
}

// LeaseGone reports whether another pull of the same image has ended and released the
// lease of the parts that both were fetching. The next attempt finds them here.
func LeaseGone(err error) bool {
	return errdefs.IsNotFound(err) && strings.Contains(err.Error(), "lease does not exist")
}

// isTLS reports whether an error concerns certificates, or a server without TLS: another
// attempt would not help.
func isTLS(err error) bool {
	return diag.Is[x509.UnknownAuthorityError](err) || diag.Is[x509.HostnameError](err) || diag.Is[x509.CertificateInvalidError](err) ||
		diag.Is[*tls.CertificateVerificationError](err) || diag.Is[tls.RecordHeaderError](err) || diag.Is[tls.AlertError](err) ||
		isPlainHTTP(err)
}

func isPlainHTTP(err error) bool {
	return errors.Is(err, http.ErrSchemeMismatch) || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// Failure returns an error that reports why an image could not be pulled, and what to do.
func Failure(ctx context.Context, r *registry.Client, name string, err error) error {
	if diag.Is[*diag.Diagnostic](err) || errors.Is(err, context.Canceled) {
		return err
	}
	summary, detail := "The image "+Familiar(name)+" cannot be pulled", explain(ctx, r, name, err)
	if errdefs.IsNotFound(err) && !LeaseGone(err) {
		err = runner.ErrNoImage
	}
	return diag.Because(err, summary, "%s", detail)
}

// registryOf returns the registry in a full name.
func registryOf(name string) string {
	named, err := reference.ParseDockerRef(name)
	if err != nil {
		return name
	}
	return reference.Domain(named)
}

// explain describes an error of a pull for the user.
func explain(ctx context.Context, r *registry.Client, name string, err error) string {
	host := registryOf(name)
	var (
		refused *RefusedError
		content *ContentError
		dns     *net.DNSError
		status  remoteerrors.ErrUnexpectedStatus
	)
	switch {
	case LeaseGone(err):
		return "Other pulls of the same image ended meanwhile. Try again."
	case errors.As(err, &refused):
		return Capitalised(refused.Why) + "."
	case errors.As(err, &content):
		return fmt.Sprintf("The registry %s sent something else than %s. Nothing of it was kept. The registry, a mirror or a proxy "+
			"is broken or hostile: contact its operator, and do not try to get around this.", host, content.Digest)
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("There is no host %s. Check the name of the image; a name without a registry is one of docker.io. Or "+
			"this machine cannot resolve names: %s.", dns.Name, failure.Sentence(dns))
	case isTLS(err):
		return explainTLS(r, host, err)
	case errors.Is(err, docker.ErrInvalidAuthorization),
		errors.As(err, &status) && (status.StatusCode == http.StatusUnauthorized || status.StatusCode == http.StatusForbidden):
		return fmt.Sprintf("The registry %s denies access, or the image does not exist. %s. Log in with `docker login %s`, or check "+
			"that "+
			"this account may pull %s. Its answer: %s.",
			host, r.CredentialText(host), host, Familiar(Repository(name)), answer(err))
	case errors.As(err, &status) && status.StatusCode == http.StatusTooManyRequests:
		return fmt.Sprintf("The registry %s reports too many requests. %s. Wait, or log in with `docker login %s`, which often "+
			"allows more.", host, r.CredentialText(host), host)
	case errors.As(err, &status):
		return fmt.Sprintf("The registry %s answered: %s. It was queried %d times; try again later.", host, answer(err), len(Backoff)+1)
	case errdefs.IsNotFound(err):
		return fmt.Sprintf("The registry %s has no %s.%s Check the name and the tag. %s.", host, Familiar(name),
			r.TagsSentence(ctx, name), r.CredentialText(host))
	}
	return fmt.Sprintf("The registry %s cannot be reached: %s. What was fetched so far is kept for a day: the next try continues "+
		"from there.",
		host, failure.Sentence(innermost(err)))
}

func explainTLS(r *registry.Client, host string, err error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		alert     tls.AlertError
		dir       = r.CertDir(host)
	)
	switch {
	case isPlainHTTP(err):
		return fmt.Sprintf("The registry %s uses plain HTTP instead of HTTPS. If that is intended, write into %s/hosts.toml: server "+
			"= \"http://%s\". Only for registries on this machine plain HTTP is the default.", host, dir, host)
	case errors.As(err, &authority):
		return fmt.Sprintf("The certificate of the registry %s is signed by an unknown authority. If it is your own authority, put its "+
			"certificate into %s/ca.crt, or name a file with it in SSL_CERT_FILE.", host, dir)
	case errors.As(err, &name):
		return fmt.Sprintf("The certificate of the registry %s is for another name: %s.", host, failure.Sentence(name))
	case errors.As(err, &alert):
		return fmt.Sprintf("The registry %s refuses the connection: %s. If it needs a client certificate, put that into %s/client.cert "+
			"and its key into client.key there.", host, failure.Sentence(alert), dir)
	}
	return fmt.Sprintf("The connection to the registry %s is not safe: %s.", host, failure.Sentence(innermost(err)))
}

// answer returns what a registry answered, without the address, which may have a token.
func answer(err error) string {
	var status remoteerrors.ErrUnexpectedStatus
	text := failure.Sentence(innermost(err))
	if coded, ok := errors.AsType[docker.Errors](err); ok {
		text = failure.Sentence(coded)
	} else if errors.As(err, &status) {
		text = status.Status
	}
	return diag.Visible(text)
}

// innermost removes the requested addresses, with their queries, from an error.
func innermost(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) {
		return errCut
	}
	return err
}

var errCut = errors.New("the connection was cut")

func Capitalised(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// pullReason reports in a few words why an attempt failed.
func pullReason(err error) string {
	if LeaseGone(err) {
		return "another pull of the same image has ended"
	}
	if diag.Is[remoteerrors.ErrUnexpectedStatus](err) {
		return "the registry answered " + answer(err)
	}
	return failure.Sentence(innermost(err))
}

// RefusedError reports that an image cannot be used here, however well the network works.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// CheckPart checks what a manifest declares about one of its parts before the part is fetched.
func CheckPart(d ocispec.Descriptor) error {
	switch {
	case d.Digest.Validate() != nil:
		return &RefusedError{fmt.Sprintf("it names a part by %q, which is not a digest", d.Digest)}
	case d.Size <= 0:
		return &RefusedError{fmt.Sprintf("the size of its part %s is %d", d.Digest, d.Size)}
	case len(d.URLs) > 0:
		// These are not of the image's registry: an image could make this machine call
		// any other server.
		return &RefusedError{fmt.Sprintf("its part %s is to be fetched from another place, %q", d.Digest, d.URLs[0])}
	case (images.IsManifestType(d.MediaType) || images.IsIndexType(d.MediaType)) && d.Size > maxManifest:
		return &RefusedError{fmt.Sprintf("its manifest has %d bytes; %d are allowed", d.Size, maxManifest)}
	case images.IsKnownConfig(d.MediaType) && d.Size > MaxConfig:
		return &RefusedError{fmt.Sprintf("its config has %d bytes; %d are allowed", d.Size, MaxConfig)}
	}
	return nil
}
