package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func encode(t *testing.T, kind string, der []byte, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func private(t *testing.T, key crypto.PrivateKey) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return encode(t, "PRIVATE KEY", der, err)
}

func public(t *testing.T, key crypto.PublicKey) []byte {
	der, err := x509.MarshalPKIXPublicKey(key)
	return encode(t, "PUBLIC KEY", der, err)
}

// Both tools' forms of one key are that key, and have one id.
func TestKeys_OfBothToolsHaveOneID(t *testing.T) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "a comment")
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string][]byte{"openssl": private(t, key), "ssh": pem.EncodeToMemory(block)} {
		if got, err := ParsePrivate(text); err != nil || !got.Equal(key) {
			t.Errorf("%s: %v", form, err)
		}
	}
	line, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string][]byte{
		"openssl": append(public(t, other), public(t, pub)...),
		"ssh":     append([]byte("# who may\n"), ssh.MarshalAuthorizedKey(line)...),
	} {
		if got, err := ParsePublic(text); err != nil || !Trusts(got, pub) {
			t.Errorf("%s: %v, %v", form, got, err)
		}
	}
	if got, err := ParsePublic(public(t, other)); err != nil || Trusts(got, pub) {
		t.Errorf("a key that is not in the list is trusted: %v, %v", got, err)
	}
}

// The id is the one that other tools compute: this key and its hash are theirs.
func TestKeyID_EqualsThatOfOtherTools(t *testing.T) {
	keys, err := ParsePublic([]byte("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ID(keys[0]), KeyID("sha256:a1e9156054e04fac899ae9f275132cdc07a5dbc4ea2c2ad3a1ffc6e0d253681f"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestKeys_WrongOnesAreExplained(t *testing.T) {
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string][]byte{
		"not a private key, which begins": []byte("hello"),
		"signing needs the private one":   public(t, pub),
		"key of another kind":             private(t, curve),
		"locked with a passphrase":        pem.EncodeToMemory(locked),
		"readable private key":            encode(t, "PRIVATE KEY", []byte("x"), nil),
	} {
		if _, err := ParsePrivate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("private, %s: got %v", want, err)
		}
	}
	for want, text := range map[string][]byte{
		"not a public key, which begins": nil,
		"it holds a PRIVATE KEY":         private(t, key),
		"another kind than ed25519":      public(t, &curve.PublicKey),
		"in it cannot be read":           encode(t, "PUBLIC KEY", []byte("x"), nil),
		"not a public key in PEM":        append(public(t, pub), "trailing"...),
	} {
		if keys, err := ParsePublic(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("public, %s: got %v, %v", want, keys, err)
		}
	}
}
