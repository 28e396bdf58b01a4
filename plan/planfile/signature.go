package planfile

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"deployster/internal/base/signature"
)

// A signed plan file has its signatures in the archive's comment, right before the checksum, each
// "ed25519 ", the public key in hex, a space, the signature in base64 and a newline. Each signs the
// hash of every byte before the first signature, so it also covers what a zip archive has besides
// its entries. The last two of these bytes, the length of the comment, count as that for one
// signature: so a further signature changes nothing that is signed.

const (
	signaturePrefix = "ed25519 "
	signatureLength = len(signaturePrefix) + 2*ed25519.PublicKeySize + 1 + (ed25519.SignatureSize+2)/3*4 + 1
	maxSignatures   = 64                                    // of one plan; a comment of an archive has room for some 400
	signedContext   = "deployster plan file, signature 1\n" // so that the signature is not valid for anything else
)

// Signature reports who signed a plan file. It was verified when the file was read;
// whether its key is trusted is for the caller to decide.
type Signature struct{ Key ed25519.PublicKey }

// Signatures are those of one file, the first one first. No two have the same key.
type Signatures []Signature

// IDs returns the ids of the keys.
func (list Signatures) IDs() []string {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = string(s.By())
	}
	return ids
}

// By returns the id of the key.
func (s Signature) By() signature.KeyID { return signature.ID(s.Key) }

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

// signedHash returns the hash that is signed in a file whose comment begins at an offset.
func signedHash(r io.ReaderAt, at int64) ([]byte, error) {
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(r, 0, at-2)); err != nil {
		return nil, err
	}
	hash.Write(commentLength(1))
	return hash.Sum(nil), nil
}

// commentLength returns the length of the comment of an archive with some signatures, as it is in
// the archive.
func commentLength(signatures int) []byte {
	return binary.LittleEndian.AppendUint16(nil, uint16(signatures*signatureLength+checksumLength))
}

// readSignatures reads and verifies the signatures; none without an error = there are none.
func readSignatures(r io.ReaderAt, size int64) (Signatures, error) {
	lines, at, err := signatureLines(r, size-checksumLength)
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	length := make([]byte, 2)
	if _, err := r.ReadAt(length, at-2); err != nil {
		return nil, err
	}
	if !bytes.Equal(length, commentLength(len(lines))) {
		return nil, damaged("it has %d signatures, and its archive another number of them", len(lines))
	}
	sum, err := signedHash(r, at)
	if err != nil {
		return nil, err
	}
	var list Signatures
	for _, line := range lines {
		s, err := verified(line, sum)
		switch {
		case err != nil:
			return nil, err
		case list.Has(s.Key):
			return nil, damaged("it has two signatures of the key %s", s.By())
		}
		list = append(list, s)
	}
	return list, nil
}

// Has reports whether a key signed the file.
func (list Signatures) Has(key ed25519.PublicKey) bool {
	return slices.ContainsFunc(list, func(s Signature) bool { return s.Key.Equal(key) })
}

// signatureLines returns the lines before an offset that are signatures by their form, the first one
// first, and where they begin.
func signatureLines(r io.ReaderAt, end int64) (lines []string, at int64, err error) {
	text := make([]byte, signatureLength)
	for at = end; at-int64(signatureLength) > 2; at -= int64(signatureLength) {
		if _, err := r.ReadAt(text, at-int64(signatureLength)); err != nil {
			return nil, 0, err
		}
		if !strings.HasPrefix(string(text), signaturePrefix) {
			break
		}
		if len(lines) == maxSignatures {
			return nil, 0, damaged("it has more than %d signatures", maxSignatures)
		}
		lines = append(lines, string(text))
	}
	slices.Reverse(lines)
	return lines, at, nil
}

// verified returns the signature of a line, which signs a hash.
func verified(line string, hash []byte) (Signature, error) {
	hexKey, rest, _ := strings.Cut(strings.TrimPrefix(line, signaturePrefix), " ")
	key, _ := hex.DecodeString(hexKey)
	signature, _ := base64.StdEncoding.DecodeString(rest)
	if len(key) != ed25519.PublicKeySize || signatureLine(key, signature) != line { // a key has other spellings too
		return Signature{}, damaged("its signature is broken")
	}
	if !ed25519.Verify(key, signedMessage(hash), signature) {
		return Signature{}, damaged("its signature does not fit it: it was edited after it was signed")
	}
	return Signature{Key: key}, nil
}

// Sign returns a plan file with a further signature, and all its signatures. An error without a
// capital letter reports why it cannot have this one.
func Sign(file []byte, key ed25519.PrivateKey) ([]byte, Signatures, error) {
	size := int64(len(file))
	p, list, err := ReadSigned(bytes.NewReader(file), size)
	if err != nil {
		return nil, nil, err
	}
	public, _ := key.Public().(ed25519.PublicKey)
	switch {
	case p.Lineage == "" && p.Begins == nil:
		return nil, nil, errors.New("it was made without a state, and does not name the state that it may begin. Sign it when it " +
			"is made, with `deployster plan -out=FILE -sign-key=KEY`")
	case list.Has(public):
		return nil, nil, fmt.Errorf("the key %s has signed it already", signature.ID(public))
	case len(list) == maxSignatures:
		return nil, nil, fmt.Errorf("it has %d signatures, which is the maximum", len(list))
	}
	at := size - checksumLength - int64(len(list)*signatureLength)
	sum, err := signedHash(bytes.NewReader(file), at)
	if err != nil {
		return nil, nil, err
	}
	out := slices.Concat(file[:at-2], commentLength(len(list)+1), file[at:size-checksumLength], []byte(signatureText(key, sum)))
	whole := sha256.Sum256(out)
	return append(out, hex.EncodeToString(whole[:])...), append(list, Signature{Key: public}), nil
}
