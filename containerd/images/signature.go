package images

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/remotes"
	"github.com/containerd/errdefs"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/contents"
	"deployster/containerd/failure"
	"deployster/containerd/images/transfer"
	"deployster/internal/base/cosign"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/runner"

	"deployster/internal/runtime/runner/imagestore"
)

// labelSignatures marks the record of the signatures of an image. Its value is the
// image's digest.
const labelSignatures = "deployster.signatures-of"

const signaturesType = "application/vnd.deployster.signatures.v1+json"

// imageSignature is one signature as found in a registry: a payload with its signature,
// or a bundle.
type imageSignature struct {
	Payload   []byte `json:"payload,omitempty"`
	Signature string `json:"signature,omitempty"` // base64, as cosign writes it
	Bundle    []byte `json:"bundle,omitempty"`
}

// signatures are those of one image: in its registry, and those of them that were found earlier and are stored here.
type signatures struct {
	name     string
	digest   digest.Digest
	conn     contents.Conn
	resolver func(context.Context) remotes.Resolver
}

// signatures returns the signatures of an image.
func (store *Store) signatures(name string, dgst digest.Digest) signatures {
	return signatures{name, dgst, store.conn, store.registries.Resolver}
}

// verify makes sure that an image has a signature that satisfies v, before any of
// it is run. It stores the signatures that it finds, so that the registry is not queried
// again.
func (s signatures) verify(ctx context.Context, v runner.Verify) error {
	name, dgst := s.name, s.digest
	keys, err := cosign.ParseKeys(v.Keys)
	if err != nil {
		return diag.Errorf("The key "+v.KeyName+" cannot be used", "%s.", transfer.Capitalised(failure.Sentence(err)))
	}
	repository := v.Repository
	if repository == "" {
		if repository, err = cosign.Repository(name); err != nil {
			return errUnsigned(name, dgst, v, []string{"an image without a name has no repository in which its signature could be"})
		}
	}
	judge := func(all []imageSignature) (reasons []string, err error) {
		for _, one := range all {
			switch {
			case one.Bundle != nil && v.Repository != "":
				err = errors.New("it does not name a repository, and the verify block needs " + v.Repository)
			case one.Bundle != nil:
				err = keys.VerifyBundle(one.Bundle, dgst.String())
			default:
				err = keys.VerifyPayload(one.Signature, one.Payload, dgst.String(), repository)
			}
			if err == nil {
				return nil, nil
			}
			reasons = append(reasons, err.Error())
		}
		return reasons, errors.New("none counts")
	}
	kept, err := s.stored(ctx)
	if err != nil {
		return err
	}
	if _, err := judge(kept); err == nil {
		return nil
	}
	if imagestore.IsDigest(name) {
		return errUnsigned(name, dgst, v, nil)
	}
	found, err := s.find(ctx)
	if err != nil {
		return err
	}
	reasons, err := judge(found)
	if err != nil {
		return errUnsigned(name, dgst, v, reasons)
	}
	return s.store(ctx, found)
}

func errUnsigned(name string, dgst digest.Digest, v runner.Verify, reasons []string) error {
	why := "None was found in its registry, nor is one kept here."
	if len(reasons) > 0 {
		why = fmt.Sprintf("Found: %d, none of which counts: %s.", len(reasons), strings.Join(reasons, "; "))
	}
	who, what := "type", "run"
	if v.Module {
		who, what = "module block", "read"
	}
	return diag.Because(errNotSigned, "The image "+transfer.Familiar(name)+" is not signed as its "+who+" requires",
		"Its %s block requires a signature of %s. %s Nothing of the image was %s. If %s is the right image, sign it with the "+
			"private key: cosign sign --key cosign.key %s@%s",
		strings.TrimSuffix(who, " "+
			"block"), v.KeyName, diag.Visible(why), what, dgst, transfer.Familiar(transfer.Repository(strings.SplitN(name, "@", 2)[0])),
		dgst)
}

var errNotSigned = errors.New("not signed")

// signaturesName returns the name of the record of an image's signatures.
func signaturesName(dgst digest.Digest) string { return "signatures-of-" + dgst.Encoded() }

// stored returns the stored signatures. They are verified again each time.
func (s signatures) stored(ctx context.Context) ([]imageSignature, error) {
	record, err := s.conn.Client.ImageService().Get(ctx, signaturesName(s.digest))
	if errdefs.IsNotFound(err) {
		return nil, nil
	}
	var b []byte
	if err == nil {
		b, err = content.ReadBlob(ctx, s.conn.Client.ContentStore(), record.Target)
	}
	if errdefs.IsNotFound(err) {
		return nil, nil // they can be fetched from the registry
	}
	if err != nil {
		return nil, err
	}
	var all []imageSignature
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, nil // treated as none
	}
	return all, nil
}

// store stores the signatures that were found.
func (s signatures) store(ctx context.Context, all []imageSignature) error {
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	leased, done, err := s.conn.Client.WithLease(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = done(s.conn.Context(context.WithoutCancel(ctx))) }() // if it fails, the lease expires
	target := ocispec.Descriptor{MediaType: signaturesType, Digest: digest.FromBytes(b), Size: int64(len(b))}
	if err := content.WriteBlob(leased, s.conn.Client.ContentStore(), rand.Text(), bytes.NewReader(b), target); err != nil {
		return err
	}
	record := images.Image{Name: signaturesName(s.digest), Target: target, Labels: map[string]string{labelSignatures: s.digest.String()}}
	_, err = s.conn.Client.ImageService().Create(ctx, record)
	if errdefs.IsAlreadyExists(err) {
		_, err = s.conn.Client.ImageService().Update(ctx, record, "target", "labels")
	}
	return err
}
