package cosign_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/dsse"

	"deployster/internal/base/cosign"
)

const (
	image      = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	other      = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
	repository = "docker.io/acme/file"
)

func signers(t *testing.T) map[string]signature.SignerVerifier {
	t.Helper()
	out := map[string]signature.SignerVerifier{}
	add := func(name string, key crypto.PrivateKey, err error) {
		if err != nil {
			t.Fatal(err)
		}
		s, err := signature.LoadSignerVerifier(key, crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = s
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	add("ECDSA P-256", p256, err)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	add("ECDSA P-384", p384, err)
	large, err := signature.LoadDefaultSignerVerifier(p384)
	if err != nil {
		t.Fatal(err)
	}
	out["ECDSA P-384 with its own hash"] = large
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	add("RSA", rsaKey, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	add("Ed25519", ed, err)
	return out
}

func public(t *testing.T, s signature.Signer) []byte {
	t.Helper()
	key, err := s.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	text, err := cryptoutils.MarshalPublicKeyToPEM(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func parse(t *testing.T, text []byte) cosign.Keys {
	t.Helper()
	keys, err := cosign.ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func payload(reference, digest, kind string) []byte {
	return fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":%q},"optional":null}`, reference, digest, kind)
}

const kind = "cosign container image signature"

func sign(t *testing.T, s signature.Signer, content []byte) string {
	t.Helper()
	raw, err := s.SignMessage(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func bundleOf(t *testing.T, s signature.Signer, predicate, digest string) []byte {
	t.Helper()
	statement := fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],"predicateType":%q,"predicate":{}}`, strings.TrimPrefix(digest, "sha256:"), predicate)
	envelope, err := dsse.WrapSigner(s, "application/vnd.in-toto+json").SignMessage(strings.NewReader(statement))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Appendf(nil, `{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","verificationMaterial":{"publicKey":{"hint":"x"}},"dsseEnvelope":%s}`, envelope)
}

const signPredicate = "https://sigstore.dev/cosign/sign/v1"

func TestSignatures_OfEveryKind(t *testing.T) {
	for name, s := range signers(t) {
		keys := parse(t, public(t, s))
		content := payload(repository, image, kind)
		if err := keys.VerifyPayload(sign(t, s, content), content, image, repository); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := keys.VerifyBundle(bundleOf(t, s, signPredicate, image), image); err != nil {
			t.Errorf("%s, bundle: %v", name, err)
		}
	}
}

func TestSignatures_ThatDoNotCount(t *testing.T) {
	all := signers(t)
	s, stranger := all["ECDSA P-256"], all["RSA"]
	keys := parse(t, public(t, s))
	good := payload(repository, image, kind)
	changed := bytes.Replace(good, []byte("null"), []byte(`{"a":1}`), 1)
	raw, _ := base64.StdEncoding.DecodeString(sign(t, s, good))
	cases := map[string]struct {
		signature string
		content   []byte
		want      error
	}{
		"another key":         {sign(t, stranger, good), good, cosign.ErrOtherKey},
		"changed content":     {sign(t, s, good), changed, cosign.ErrOtherKey},
		"cut off":             {base64.StdEncoding.EncodeToString(raw[:len(raw)-1]), good, cosign.ErrOtherKey},
		"no signature":        {"", good, cosign.ErrBroken},
		"no base64":           {"%%%", good, cosign.ErrBroken},
		"another digest":      {sign(t, s, payload(repository, other, kind)), payload(repository, other, kind), cosign.ErrOtherImage},
		"another repository":  {sign(t, s, payload("docker.io/acme/evil", image, kind)), payload("docker.io/acme/evil", image, kind), cosign.ErrOtherImage},
		"no repository":       {sign(t, s, payload("", image, kind)), payload("", image, kind), cosign.ErrOtherImage},
		"another kind":        {sign(t, s, payload(repository, image, "receipt")), payload(repository, image, "receipt"), cosign.ErrBroken},
		"signed, but no JSON": {sign(t, s, []byte("hello")), []byte("hello"), cosign.ErrBroken},
	}
	for name, c := range cases {
		if err := keys.VerifyPayload(c.signature, c.content, image, repository); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	bundle := bundleOf(t, s, signPredicate, image)
	for name, b := range map[string][]byte{
		"another key":    bundleOf(t, stranger, signPredicate, image),
		"another digest": bundleOf(t, s, signPredicate, other),
		"an attestation": bundleOf(t, s, "https://slsa.dev/provenance/v1", image),
		"cut off":        bundle[:len(bundle)-20],
		"no envelope":    []byte(`{"dsseEnvelope":null}`),
		"no signatures":  withoutSignatures(t, bundle),
		"empty":          nil,
	} {
		if err := keys.VerifyBundle(b, image); err == nil {
			t.Errorf("a bundle counts: %s", name)
		}
	}
}

func withoutSignatures(t *testing.T, b []byte) []byte {
	t.Helper()
	var parsed map[string]any
	if err := json.Unmarshal(b, &parsed); err != nil {
		t.Fatal(err)
	}
	parsed["dsseEnvelope"].(map[string]any)["signatures"] = []any{}
	out, err := json.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The names that cosign writes for docker's own registry, and names with tags.
func TestRepositories_MatchUnderAllTheirNames(t *testing.T) {
	s := signers(t)["Ed25519"]
	keys := parse(t, public(t, s))
	for _, reference := range []string{"index.docker.io/acme/file", "docker.io/acme/file:1", "acme/file", "acme/file@" + image} {
		content := payload(reference, image, kind)
		if err := keys.VerifyPayload(sign(t, s, content), content, image, repository); err != nil {
			t.Errorf("%s: %v", reference, err)
		}
	}
}

// A signature of a hash, by an Ed25519 key, is told as what it is.
func TestPrehashed_IsNamedInTheError(t *testing.T) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := signature.LoadED25519phSignerVerifier(private)
	if err != nil {
		t.Fatal(err)
	}
	keys, content := parse(t, public(t, s)), payload(repository, image, kind)
	if err := keys.VerifyPayload(sign(t, s, content), content, image, repository); !errors.Is(err, cosign.ErrPrehashed) {
		t.Errorf("it says %v", err)
	}
	if err := keys.VerifyPayload(sign(t, signers(t)["Ed25519"], content), content, image, repository); !errors.Is(err, cosign.ErrOtherKey) {
		t.Errorf("of a stranger's it says %v", err)
	}
}

func TestKeys_AnyOfThemVerifies(t *testing.T) {
	all := signers(t)
	first, second := all["ECDSA P-256"], all["Ed25519"]
	both := parse(t, append(public(t, first), public(t, second)...))
	content := payload(repository, image, kind)
	for _, s := range []signature.Signer{first, second} {
		if err := both.VerifyPayload(sign(t, s, content), content, image, repository); err != nil {
			t.Error(err)
		}
	}
	private, err := cryptoutils.MarshalPrivateKeyToPEM(mustKey(t))
	if err != nil {
		t.Fatal(err)
	}
	short, err := cryptoutils.MarshalPublicKeyToPEM(&rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 1023, 1), E: 65537})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cosign.ParseKeys(short); err == nil || !strings.Contains(err.Error(), "2048") {
		t.Errorf("a short RSA key: %v", err)
	}
	for name, text := range map[string][]byte{
		"": nil, "no PEM": []byte("hello"), "private": private, "cut off": public(t, first)[:60],
		"text after it": append(public(t, first), "x"...), "many": bytes.Repeat(public(t, first), 17),
	} {
		if _, err := cosign.ParseKeys(text); err == nil {
			t.Errorf("%q is taken for a key", name)
		}
	}
}

func mustKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Nothing that a registry may send makes the judge panic, or counts.
func FuzzSignatures(f *testing.F) {
	f.Add([]byte(`{"critical":{}}`), "MEUC")
	f.Add([]byte(`{"dsseEnvelope":{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[{"sig":"AAAA"}]}}`), "")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	text, err := cryptoutils.MarshalPublicKeyToPEM(&key.PublicKey)
	if err != nil {
		f.Fatal(err)
	}
	keys, err := cosign.ParseKeys(text)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte, signature string) {
		if keys.VerifyPayload(signature, content, image, repository) == nil || keys.VerifyBundle(content, image) == nil {
			t.Error("it counts")
		}
	})
}
