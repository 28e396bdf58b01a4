package postgres

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/text/secure/precis"
)

// rounds is how often the hash of a new password is made, as the server itself makes it.
const rounds = 4096

// verifier is what a server stores in place of a password.
type verifier struct {
	rounds         int
	salt           []byte
	stored, server []byte
}

func derive(password string, salt []byte, rounds int) (v verifier, err error) {
	if normal, err := precis.OpaqueString.String(password); err == nil {
		password = normal // clients do so too; other passwords are used as they are
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, rounds, sha256.Size)
	if err != nil {
		return v, err
	}
	mac := func(what string) []byte {
		h := hmac.New(sha256.New, salted)
		h.Write([]byte(what))
		return h.Sum(nil)
	}
	stored := sha256.Sum256(mac("Client Key"))
	return verifier{rounds, salt, stored[:], mac("Server Key")}, nil
}

// newVerifier returns that of a password, with a salt of its own.
func newVerifier(password string) (verifier, error) {
	salt := make([]byte, 16)
	if _, err := rand.Read(salt); err != nil {
		return verifier{}, err
	}
	return derive(password, salt, rounds)
}

func (v verifier) String() string {
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", v.rounds, encode(v.salt), encode(v.stored), encode(v.server))
}

// matches reports whether a server that has stored this accepts the password.
func matches(stored, password string) bool {
	parts := strings.FieldsFunc(stored, func(r rune) bool { return r == '$' || r == ':' })
	if len(parts) != 5 || parts[0] != "SCRAM-SHA-256" {
		return false
	}
	count, err := strconv.Atoi(parts[1])
	salt, err2 := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || err2 != nil || count < 1 || count > 10_000_000 {
		return false
	}
	v, err := derive(password, salt, count)
	return err == nil && hmac.Equal([]byte(v.String()), []byte(stored))
}
