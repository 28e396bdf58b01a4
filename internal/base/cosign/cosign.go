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

// The reasons why a signature is not accepted.
var (
	ErrOtherKey   = errors.New("it is of another key")
	ErrOtherImage = errors.New("it is of another image")
	ErrBroken     = errors.New("it is broken")
	ErrPrehashed  = errors.New("it is of that key, but an Ed25519ph signature, which does not count: sign with Ed25519, ECDSA or RSA")
)

// Keys are public keys; a signature by any one of them is sufficient.
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
				return nil, errors.New("it is not a public key in PEM, which begins with -----BEGIN PUBLIC KEY-----, or something stands " +
					"after it")
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

// Repository returns the full name of a repository as docker completes it, without tag
// and digest: "acme/file" is docker.io/acme/file.
func Repository(name string) (string, error) {
	named, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return "", fmt.Errorf("%q is not the name of a repository: %w", name, err)
	}
	return reference.TrimNamed(named).String(), nil
}

// verifiers returns a verifier for each way in which one of the keys may have signed.
func (k Keys) verifiers() []signature.Verifier {
	var all []signature.Verifier
	for _, key := range k {
		if v, err := signature.LoadVerifier(key, crypto.SHA256); err == nil {
			all = append(all, v)
		}
		// For larger keys, newer versions of cosign use a longer hash.
		if v, err := signature.LoadDefaultVerifier(key); err == nil {
			all = append(all, v)
		}
	}
	return all
}

// payload is the content that a signature stored next to an image signs.
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

// VerifyPayload verifies a signature stored next to an image: signed, in base64, must be
// by one of the keys, and the content that it signs must name this digest and this
// repository. So nobody can put a signature next to another image, or the image under
// another name.
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
		return fmt.Errorf("%w: its content is not a %s", ErrBroken, payloadType)
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

// verify returns nil if one of the keys has signed, else the reason why the signature is not accepted.
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

// bundle is the newer form; only the part that a key signs is read.
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
	// signPredicate marks a signature. Attestations, whose statements about an image need
	// not be favourable, have other predicates.
	signPredicate = "https://sigstore.dev/cosign/sign/v1"
)

// VerifyBundle verifies a bundle: it must be signed by one of the keys, be a signature
// and no attestation, and refer to this digest. A bundle does not name a repository.
func (k Keys) VerifyBundle(content []byte, digest string) error {
	var b bundle
	if err := json.Unmarshal(content, &b); err != nil || b.Envelope == nil {
		return fmt.Errorf("%w: it is not a bundle with an envelope", ErrBroken)
	}
	// The verifier parses JSON itself. It gets JSON encoded here, so that it cannot
	// understand it differently from the code below.
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
		return fmt.Errorf("%w: its content is not a statement", ErrBroken)
	}
	if s.Predicate != signPredicate {
		return fmt.Errorf("it is not a signature, but a statement of the kind %s", s.Predicate)
	}
	for _, subject := range s.Subject {
		if hex := subject.Digest["sha256"]; hex != "" && "sha256:"+hex == digest {
			return nil
		}
	}
	return ErrOtherImage
}
