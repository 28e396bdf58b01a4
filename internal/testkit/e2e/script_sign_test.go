package e2e

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/dsse"
)

// makeKeys writes a pair of keys, NAME.key and NAME.pub.
func makeKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 || len(args) == 2 && args[1] != "ed25519" {
		ts.Fatalf("usage: keypair NAME [ed25519]")
	}
	var key crypto.Signer
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if len(args) == 2 {
		_, key, err = ed25519.GenerateKey(rand.Reader)
	}
	ts.Check(err)
	private, err := cryptoutils.MarshalPrivateKeyToPEM(key)
	ts.Check(err)
	public, err := cryptoutils.MarshalPublicKeyToPEM(key.Public())
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".key"), private, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".pub"), public, 0o644))
}

// signImage puts a signature into the registry, as cosign does. The digest may be
// what a file holds.
func signImage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: sign REPOSITORY DIGEST|FILE KEY [as=REPOSITORY] [of=DIGEST] [cut] [prehashed] [bundle|listed-empty]")
	}
	if !strings.HasPrefix(args[1], "sha256:") {
		args[1] = strings.TrimSpace(ts.ReadFile(args[1]))
	}
	r := ts.Value(registryKey{}).(*registry)
	key, err := cryptoutils.UnmarshalPEMToPrivateKey([]byte(ts.ReadFile(args[2])), cryptoutils.SkipPassword)
	ts.Check(err)
	var signer signature.Signer
	signer, err = signature.LoadSigner(key, crypto.SHA256)
	ts.Check(err)
	identity, of, cut, bundle := ts.Getenv("REGISTRY")+"/"+args[0], args[1], false, ""
	for _, arg := range args[3:] {
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "as":
			identity = value
		case "of":
			of = value
		case "cut":
			cut = true
		case "prehashed":
			signer, err = signature.LoadED25519phSigner(key.(ed25519.PrivateKey))
			ts.Check(err)
		case "bundle":
			bundle = bundleType
		case "listed-empty": // as cosign 2.6 lists it where the registry keeps no list
			bundle = "application/vnd.oci.empty.v1+json"
		default:
			ts.Fatalf("no such signature: %s", arg)
		}
	}
	if bundle != "" {
		r.bundle(ts, args[0], args[1], of, bundle, signer)
		return
	}
	payload := fmt.Appendf(nil,
		`{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`, identity, of)
	raw, err := signer.SignMessage(bytes.NewReader(payload))
	ts.Check(err)
	if cut {
		raw = raw[:len(raw)/2]
	}
	layer := r.blob(ts, args[0], "application/vnd.dev.cosign.simplesigning.v1+json", payload)
	layer["annotations"] = map[string]string{"dev.cosignproject.cosign/signature": base64.StdEncoding.EncodeToString(raw)}
	manifest := asJSON(ts, map[string]any{"schemaVersion": 2, "mediaType": manifestType,
		"config": r.blob(ts, args[0], "application/vnd.oci.image.config.v1+json", []byte("{}")), "layers": []any{layer}})
	r.manifest(ts, args[0], strings.Replace(args[1], ":", "-", 1)+".sig", manifestType, manifest)
}

const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// bundle puts a signature in the newer form beside an image, and lists it where
// a registry without an answer for "what refers to it" has the list.
func (r *registry) bundle(ts *testscript.TestScript, repository, digest, of, listedAs string, signer signature.Signer) {
	statement := fmt.Sprintf(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":%q}}],"predicateType":"https://sigstore.dev/cosign/sign/v1","predicate":{}}`,
		strings.TrimPrefix(of, "sha256:"))
	envelope, err := dsse.WrapSigner(signer, "application/vnd.in-toto+json").SignMessage(strings.NewReader(statement))
	ts.Check(err)
	content := asJSON(ts,
		map[string]any{"mediaType": bundleType, "verificationMaterial": map[string]any{"publicKey": map[string]string{"hint": "x"}},
			"dsseEnvelope": json.RawMessage(envelope)})
	manifest := asJSON(ts, map[string]any{"schemaVersion": 2, "mediaType": manifestType, "artifactType": bundleType,
		"config":  r.blob(ts, repository, "application/vnd.oci.empty.v1+json", []byte("{}")),
		"layers":  []any{r.blob(ts, repository, bundleType, content)},
		"subject": map[string]any{"mediaType": manifestType, "digest": digest, "size": 1}})
	at := r.manifest(ts, repository, "bundle-"+digestOf(content)[7:19], manifestType, manifest)
	const indexType = "application/vnd.oci.image.index.v1+json"
	r.manifest(ts, repository, strings.Replace(digest, ":", "-", 1), indexType,
		asJSON(ts, map[string]any{"schemaVersion": 2, "mediaType": indexType,
			"manifests": []any{map[string]any{"mediaType": manifestType, "artifactType": listedAs, "digest": at, "size": len(manifest)}}}))
}
