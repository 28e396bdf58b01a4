package cosign

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/distribution/reference"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/dsse"
)

// The reasons why a signature does not count.
var (
	ErrOtherKey   = errors.New("it is of another key")
	ErrOtherImage = errors.New("it is of another image")
	ErrBroken     = errors.New("it is broken")
	ErrPrehashed  = errors.New("it is of that key, but an Ed25519ph signature, which does not count: sign with Ed25519, ECDSA or RSA")
)

// Keys are public keys; a signature of any of them will do.
type Keys []crypto.PublicKey

const (
	maxKeys = 16
	minRSA  = 2048 // bits
)

// ParseKeys reads public keys in PEM: ECDSA, RSA or Ed25519.
func ParseKeys(text []byte) (Keys, error) {
	var keys Keys
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			if len(bytes.TrimSpace(rest)) > 0 {
				return nil, errors.New("it is not a public key in PEM, which begins with -----BEGIN PUBLIC KEY-----, or something stands after it")
			}
			break
		}
		if strings.Contains(block.Type, "PRIVATE") {
			return nil, errors.New("this is a private key: give the public one, for example cosign.pub, and keep this one secret")
		}
		key, err := cryptoutils.UnmarshalPEMToPublicKey(pem.EncodeToMemory(block))
		if short, ok := key.(*rsa.PublicKey); ok && short.N.BitLen() < minRSA {
			err = fmt.Errorf("an RSA key has %d bits at least, and this one has %d", minRSA, short.N.BitLen())
		}
		if err == nil {
			_, err = signature.LoadVerifier(key, crypto.SHA256)
		}
		if err != nil {
			return nil, fmt.Errorf("it is not a public key that can be used: %w", err)
		}
		if keys = append(keys, key); len(keys) > maxKeys {
			return nil, fmt.Errorf("there are more than %d keys in it", maxKeys)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no public key in it")
	}
	return keys, nil
}

// Repository completes the name of a repository as docker does, without tag
// and digest: "acme/file" is docker.io/acme/file.
func Repository(name string) (string, error) {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return "", fmt.Errorf("%q is not the name of a repository: %w", name, err)
	}
	return reference.TrimNamed(named).String(), nil
}

// verifiers are the ways in which keys may have signed.
func (k Keys) verifiers() []signature.Verifier {
	var all []signature.Verifier
	for _, key := range k {
		if v, err := signature.LoadVerifier(key, crypto.SHA256); err == nil {
			all = append(all, v)
		}
		// For larger keys newer versions of cosign take a longer hash.
		if v, err := signature.LoadDefaultVerifier(key); err == nil {
			all = append(all, v)
		}
	}
	return all
}

// payload is what a signature beside an image signs.
type payload struct {
	Critical struct {
		Type     string `json:"type"`
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
	} `json:"critical"`
}

const payloadType = "cosign container image signature"

// VerifyPayload judges a signature beside an image: that signed, in base64, is
// of one of the keys, and that what it signed names this digest and this
// repository. So a signature cannot be put beside another image, nor the image
// under another name.
func (k Keys) VerifyPayload(signed string, content []byte, digest, repository string) error {
	raw, err := base64.StdEncoding.DecodeString(signed)
	if err != nil || len(raw) == 0 {
		return fmt.Errorf("%w: no base64", ErrBroken)
	}
	if err := k.verify(func(v signature.Verifier) error {
		return v.VerifySignature(bytes.NewReader(raw), bytes.NewReader(content))
	}); err != nil {
		return err
	}
	var p payload
	if err := json.Unmarshal(content, &p); err != nil || p.Critical.Type != payloadType {
		return fmt.Errorf("%w: what it signs is no %s", ErrBroken, payloadType)
	}
	if p.Critical.Image.Digest != digest {
		return fmt.Errorf("%w, %s", ErrOtherImage, p.Critical.Image.Digest)
	}
	named, err := Repository(p.Critical.Identity.Reference)
	if err != nil || named != repository {
		return fmt.Errorf("%w: it was made for %s", ErrOtherImage, p.Critical.Identity.Reference)
	}
	return nil
}

// verify returns nil if one of the keys has signed, else why that does not count.
func (k Keys) verify(try func(signature.Verifier) error) error {
	for _, v := range k.verifiers() {
		if try(v) == nil {
			return nil
		}
	}
	for _, key := range k {
		if ed, ok := key.(ed25519.PublicKey); ok {
			if v, err := signature.LoadED25519phVerifier(ed); err == nil && try(v) == nil {
				return ErrPrehashed
			}
		}
	}
	return ErrOtherKey
}

// bundle is the newer form, of which only what a key signs is looked at.
type bundle struct {
	Envelope *envelope `json:"dsseEnvelope"`
}

type envelope struct {
	PayloadType string `json:"payloadType"`
	Payload     []byte `json:"payload"`
	Signatures  []struct {
		Signature []byte `json:"sig"`
	} `json:"signatures"`
}

type statement struct {
	Type      string `json:"_type"`
	Predicate string `json:"predicateType"`
	Subject   []struct {
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
}

const (
	statementMedia = "application/vnd.in-toto+json"
	statementType  = "https://in-toto.io/Statement/"
	// signPredicate tells a signature from attestations, which say something
	// about an image that need not be good.
	signPredicate = "https://sigstore.dev/cosign/sign/v1"
)

// VerifyBundle judges a bundle: that it is of one of the keys, that it is a
// signature, and of this digest. It does not name a repository.
func (k Keys) VerifyBundle(content []byte, digest string) error {
	var b bundle
	if err := json.Unmarshal(content, &b); err != nil || b.Envelope == nil {
		return fmt.Errorf("%w: no bundle with an envelope", ErrBroken)
	}
	// The verifier reads JSON itself. It gets ours, so that it cannot understand
	// something else than what is looked at below.
	e := *b.Envelope
	plain, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	if err := k.verify(func(v signature.Verifier) error {
		return dsse.WrapVerifier(v).VerifySignature(bytes.NewReader(plain), nil)
	}); err != nil {
		return err
	}
	var s statement
	if err := json.Unmarshal(e.Payload, &s); err != nil || e.PayloadType != statementMedia || !strings.HasPrefix(s.Type, statementType) {
		return fmt.Errorf("%w: what it signs is no statement", ErrBroken)
	}
	if s.Predicate != signPredicate {
		return fmt.Errorf("it is no signature, but a statement of the kind %s", s.Predicate)
	}
	for _, subject := range s.Subject {
		if hex := subject.Digest["sha256"]; hex != "" && "sha256:"+hex == digest {
			return nil
		}
	}
	return ErrOtherImage
}
