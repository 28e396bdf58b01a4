package answers

import (
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
}

// The limits of a secret and of its version, in bytes.
const (
	MaxSecret  = 64 << 10
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
	expires := f.Text("expires")
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
	if expires != "" && *f.First == nil {
		if s.Expires, err = time.Parse(time.RFC3339, expires); err != nil {
			f.Problem("\"expires\" must be a time as in RFC 3339, such as 2026-11-21T03:53:28Z")
		}
	}
	if *f.First != nil {
		return Secret{}, *f.First
	}
	return s, nil
}
