package images

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/core/remotes"
	"github.com/containerd/errdefs"
	"github.com/distribution/reference"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/images/transfer"
	"deployster/internal/runtime/runner/imagestore"
)

// The media types and the annotation of cosign's signatures, and the limits for reading them.
const (
	payloadMedia        = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureAnnotation = "dev.cosignproject.cosign/signature"
	bundleMedia         = "application/vnd.dev.sigstore.bundle"

	maxSignatures    = 64
	maxSignatureSize = 1 << 20
)

// find queries the registry for all signatures of the image, in both forms, with retries, within the time limit of
// resolve. Finding none is not an error.
func (s signatures) find(ctx context.Context) ([]imageSignature, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, transfer.StallAfter, transfer.ErrStalled)
	defer cancel()
	registry := s.resolver(ctx)
	found, err := retry(ctx, transfer.NewMeter(transfer.Familiar(s.name), nil), func(ctx context.Context) ([]imageSignature, error) {
		found, err := s.fromTag(ctx, registry)
		if err != nil {
			return nil, err
		}
		bundles, err := s.bundles(ctx, registry)
		return append(found, bundles...), err
	})
	return found, transfer.Stalled(ctx, err)
}

// fromTag returns the signatures under the tag that cosign derives from the digest.
func (s signatures) fromTag(ctx context.Context, registry remotes.Resolver) ([]imageSignature, error) {
	named, err := reference.ParseDockerRef(s.name)
	if err != nil {
		return nil, err
	}
	ref := reference.TrimNamed(named).String() + ":" + strings.Replace(s.digest.String(), ":", "-", 1) + ".sig"
	_, target, err := registry.Resolve(ctx, ref)
	if errdefs.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	fetcher, err := registry.Fetcher(ctx, ref)
	if err != nil {
		return nil, err
	}
	manifest, err := fetchManifest(ctx, fetcher, target)
	if err != nil {
		return nil, err
	}
	var found []imageSignature
	for _, layer := range manifest.Layers {
		signature := layer.Annotations[signatureAnnotation]
		if layer.MediaType != payloadMedia || signature == "" || len(found) == maxSignatures {
			continue
		}
		payload, err := fetchSmall(ctx, fetcher, layer)
		if err != nil {
			return nil, err
		}
		found = append(found, imageSignature{Payload: payload, Signature: signature})
	}
	return found, nil
}

// bundles returns the bundles that refer to the image.
func (s signatures) bundles(ctx context.Context, registry remotes.Resolver) ([]imageSignature, error) {
	fetcher, err := registry.Fetcher(ctx, imagestore.WithDigest(s.name, s.digest.String()))
	if err != nil {
		return nil, err
	}
	lister, ok := fetcher.(remotes.ReferrersFetcher)
	if !ok {
		return nil, nil
	}
	referrers, err := lister.FetchReferrers(ctx, s.digest)
	if err != nil && !errdefs.IsNotFound(err) {
		return nil, err
	}
	var found []imageSignature
	for _, d := range referrers {
		// If cosign maintains the list itself, the artifact type is that of the config: empty JSON.
		listed := strings.HasPrefix(d.ArtifactType, bundleMedia) || d.ArtifactType == ocispec.MediaTypeEmptyJSON
		if !listed || len(found) == maxSignatures {
			continue
		}
		manifest, err := fetchManifest(ctx, fetcher, d)
		if err != nil {
			return nil, err
		}
		if manifest.Subject == nil || manifest.Subject.Digest != s.digest || len(manifest.Layers) == 0 {
			continue // it is listed for this image, but refers to another
		}
		if !strings.HasPrefix(manifest.Layers[0].MediaType, bundleMedia) {
			continue // another kind of referrer
		}
		b, err := fetchSmall(ctx, fetcher, manifest.Layers[0])
		if err != nil {
			return nil, err
		}
		found = append(found, imageSignature{Bundle: b})
	}
	return found, nil
}

func fetchManifest(ctx context.Context, fetcher remotes.Fetcher, d ocispec.Descriptor) (m ocispec.Manifest, err error) {
	if !images.IsManifestType(d.MediaType) {
		return m, &transfer.RefusedError{Why: fmt.Sprintf("where its signatures should be is %q", d.MediaType)}
	}
	b, err := fetchSmall(ctx, fetcher, d)
	if err == nil {
		if err = json.Unmarshal(b, &m); err != nil {
			err = &transfer.RefusedError{Why: "the manifest of its signatures is broken"}
		}
	}
	return m, err
}

// fetchSmall fetches a small content into memory, and checks its digest.
func fetchSmall(ctx context.Context, fetcher remotes.Fetcher, d ocispec.Descriptor) ([]byte, error) {
	if err := transfer.CheckPart(d); err != nil {
		return nil, err
	}
	if d.Size > maxSignatureSize {
		return nil, &transfer.RefusedError{Why: fmt.Sprintf("a signature of it has %d bytes; %d are allowed", d.Size, maxSignatureSize)}
	}
	body, err := fetcher.Fetch(ctx, d)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(body, d.Size+1))
	err = errors.Join(err, body.Close())
	if err == nil && (int64(len(b)) != d.Size || digest.FromBytes(b) != d.Digest) {
		err = &transfer.ContentError{Digest: d.Digest}
	}
	return b, err
}
