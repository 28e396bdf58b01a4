package secretref

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
)

// Rounds is how often a fingerprint is hashed: a guess costs as much as a comparison.
const Rounds = 200_000

// The forms of fingerprints.
const (
	versioned = "version:"
	hashed    = "pbkdf2-sha256:"
)

// Fingerprint returns what is recorded of a value: its version, if it has one, else a slow hash with a salt of its own.
func Fingerprint(value, version string) string {
	if version != "" {
		return versioned + version
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // documented to never fail
	return hash(value, salt)
}

func hash(value string, salt []byte) string {
	sum, err := pbkdf2.Key(sha256.New, value, salt, Rounds, sha256.Size)
	if err != nil {
		return "" // a salt that is too short, where only approved parameters are allowed: it matches nothing
	}
	text := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("%s%d:%s:%s", hashed, Rounds, text(salt), text(sum))
}

// Matches reports whether a recorded fingerprint is that of a value. "" is not one.
func Matches(recorded, value, version string) bool {
	if version != "" {
		return recorded == versioned+version
	}
	rest, ok := strings.CutPrefix(recorded, fmt.Sprintf("%s%d:", hashed, Rounds))
	text, _, _ := strings.Cut(rest, ":")
	salt, err := base64.RawStdEncoding.DecodeString(text)
	return ok && err == nil && subtle.ConstantTimeCompare([]byte(hash(value, salt)), []byte(recorded)) == 1
}
