package answers

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"deployster/internal/base/secretref"
)

// Secret is what an image of a secret block prints.
type Secret struct {
	Value   string
	Version string    // changes with the value; "" = not known
	Expires time.Time // from then on the value is read again; zero = it does not expire

	// Lease is what the image gets to renew and to give back what it has opened; nil = nothing is open. Renew is when it is to be
	// renewed; zero = never.
	Lease json.RawMessage
	Renew time.Time
}

// The limits of a secret and of its version, in bytes.
const (
	MaxSecret  = 64 << 10
	maxLease   = 64 << 10
	maxVersion = 200
)

// secret reads the answer to init of an image that prints a secret.
func (a initAnswer) secret() { a.ty.Secret = a.alone("secret", "a secret") }

// ReadSecret parses what an image of a secret block prints. Its errors have no part of the answer.
func ReadSecret(answer []byte) (s Secret, err error) {
	f, err := ReadFields(answer)
	if err != nil {
		return s, err
	}
	s.Value, s.Version = f.needText("value"), f.Text("version")
	s.until(f)
	f.Done()
	switch {
	case *f.First != nil:
	case len(s.Value) > MaxSecret || !utf8.ValidString(s.Value) || strings.ContainsRune(s.Value, 0):
		f.Problem("\"value\" must be text of at most %d bytes, without zero bytes: print base64 for anything else", MaxSecret)
	case secretref.In([]byte(s.Value)):
		f.Problem("\"value\" has the text that stands for a secret in a manifest")
	case len(s.Version) > maxVersion || !properName(s.Version):
		f.Problem("\"version\" must be a text of at most %d bytes, without control or invisible characters", maxVersion)
	case s.Version != "" && strings.Contains(s.Version, s.Value):
		f.Problem("\"version\" has the value, and a version is recorded")
	}
	if *f.First != nil {
		return Secret{}, *f.First
	}
	return s, nil
}

// ReadRenewed parses what an image prints after it has renewed a lease. Its errors have no part of the answer.
func ReadRenewed(answer []byte) (s Secret, err error) {
	f, err := ReadFields(answer)
	if err != nil {
		return s, err
	}
	s.until(f)
	if f.Done(); *f.First != nil {
		return Secret{}, *f.First
	}
	return s, nil
}

// until reads how long a secret lasts.
func (s *Secret) until(f *Fields) {
	for key, into := range map[string]*time.Time{"expires": &s.Expires, "renew": &s.Renew} {
		text := f.Text(key)
		if text == "" {
			continue
		}
		var err error
		if *into, err = time.Parse(time.RFC3339, text); err != nil {
			f.Problem("%q must be a time as in RFC 3339, such as 2026-11-21T03:53:28Z", key)
		}
	}
	if s.Lease = f.Value("lease"); len(s.Lease) > maxLease {
		f.Problem("\"lease\" has more than %d bytes", maxLease)
	}
}
