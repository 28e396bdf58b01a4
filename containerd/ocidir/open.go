package ocidir

import (
	"os"
	"path/filepath"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/plugins/content/local"
	digest "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"deployster/containerd/contents"
	"deployster/containerd/images/transfer"
	"deployster/internal/base/durable"
)

// Open opens the layout in a directory, and creates it if need be.
func Open(dir string) (contents.Conn, error) {
	for _, d := range []string{dir, filepath.Join(dir, locks)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return contents.Conn{}, err
		}
	}
	mark := filepath.Join(dir, ocispec.ImageLayoutFile)
	if _, err := os.Stat(mark); err != nil {
		version := []byte(`{"imageLayoutVersion":"` + ocispec.ImageLayoutVersion + `"}` + "\n")
		if err := durable.WriteUnsynced(mark, version, 0o600); err != nil {
			return contents.Conn{}, err
		}
	}
	files, err := local.NewLabeledStore(dir, unlabelled{})
	if err != nil {
		return contents.Conn{}, err
	}
	blobs := &blobs{Store: files, dir: dir}
	c, err := client.New("", client.WithDefaultPlatform(transfer.Platform()), client.WithServices(client.WithContentStore(blobs),
		client.WithImageStore(&names{dir: dir, blobs: blobs}), client.WithLeasesService(unleased{})))
	return contents.Conn{Client: c, Namespace: "deployster", Disk: dir}, err
}

// unlabelled is a local.LabelStore without labels. They name what contents refer to, which sweep reads from the
// contents themselves.
type unlabelled struct{}

func (unlabelled) Get(digest.Digest) (map[string]string, error) { return nil, nil }

func (unlabelled) Set(digest.Digest, map[string]string) error { return nil }

func (unlabelled) Update(_ digest.Digest, labels map[string]string) (map[string]string, error) {
	return labels, nil
}
