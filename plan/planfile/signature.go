package planfile

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"

	"deployster/internal/base/signature"
)

// A signed plan file has its signature in the archive's comment, right before
// the checksum: "ed25519 ", the public key in hex, a space, the signature in base64
// and a newline. The signature is of the hash of every byte before it, so it also
// covers what a zip archive has besides its entries.

const (
	signaturePrefix = "ed25519 "
	signatureLength = len(signaturePrefix) + 2*ed25519.PublicKeySize + 1 + (ed25519.SignatureSize+2)/3*4 + 1
	signedContext   = "deployster plan file, signature 1\n" // so that the signature is not valid for anything else
)

// Signature reports who signed a plan file. It was verified when the file was read;
// whether its key is trusted is for the caller to decide.
type Signature struct{ Key ed25519.PublicKey }

// By returns the id of the key.
func (s *Signature) By() signature.KeyID { return signature.ID(s.Key) }

// signedMessage returns the signed bytes for a file, given the hash of the bytes
// before the signature.
func signedMessage(hash []byte) []byte { return []byte(signedContext + hex.EncodeToString(hash)) }

// signatureText signs a hash, and returns the line for the file.
func signatureText(key ed25519.PrivateKey, hash []byte) string {
	public, _ := key.Public().(ed25519.PublicKey)
	return signatureLine(public, ed25519.Sign(key, signedMessage(hash)))
}

func signatureLine(key ed25519.PublicKey, signature []byte) string {
	return signaturePrefix + hex.EncodeToString(key) + " " + base64.StdEncoding.EncodeToString(signature) + "\n"
}

// readSignature reads and verifies the signature; nil without an error = none. hash
// returns the hash of the first n bytes of the file.
func readSignature(r io.ReaderAt, size int64, hash func(n int64) ([]byte, error)) (*Signature, error) {
	at := size - checksumLength - int64(signatureLength)
	text := make([]byte, signatureLength)
	if at < 0 {
		return nil, nil
	}
	if _, err := r.ReadAt(text, at); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(text), signaturePrefix) {
		return nil, nil
	}
	hexKey, rest, _ := strings.Cut(strings.TrimPrefix(string(text), signaturePrefix), " ")
	key, _ := hex.DecodeString(hexKey)
	signature, _ := base64.StdEncoding.DecodeString(rest)
	if len(key) != ed25519.PublicKeySize || signatureLine(key, signature) != string(text) { // a key has other spellings too
		return nil, damaged("its signature is broken")
	}
	sum, err := hash(at)
	if err != nil {
		return nil, err
	}
	if !ed25519.Verify(key, signedMessage(sum), signature) {
		return nil, damaged("its signature does not fit it: it was edited after it was signed")
	}
	return &Signature{Key: key}, nil
}
