package modules

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"deployster/config"
	"deployster/internal/base/diag"
	"deployster/internal/runtime/modsource"
	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// Images obtains images, and reads what they consist of. A container runtime is one.
type Images interface {
	Obtain(ctx context.Context, w runner.Wanted) (runner.Image, error)
	runner.Contents
}

// maxManifest is the size of the largest manifest of an image.
const maxManifest = 4 << 20

// fetchImage returns the files of the image of a source, or of the pinned one. newest queries the registry
// for what the tag is now.
func fetchImage(ctx context.Context, images Images, a modsource.Address, pin config.ModulePin, verify *runner.Verify, newest bool) (
	config.ModulePin, *tree, error) {
	w := runner.Wanted{Reference: a.Image, Verify: verify}
	if pin.Digest != "" {
		w.Reference = imagestore.WithDigest(a.Image, pin.Digest)
	}
	image, err := images.Obtain(ctx, w)
	if err == nil && newest && image.Pulled {
		w.Pull = runner.PullAlways
		image, err = images.Obtain(ctx, w)
	}
	if err != nil {
		return config.ModulePin{}, nil, err
	}
	t, err := imageTree(ctx, images, image.Digest)
	if err != nil {
		return config.ModulePin{}, nil, err
	}
	return config.ModulePin{Digest: image.Digest, Tree: t.hash("")}, t, nil
}

// manifest is the part of a manifest or an index that names the parts of an image.
type manifest struct {
	Manifests []part `json:"manifests"`
	Layers    []part `json:"layers"`
}

type part struct {
	Digest   string `json:"digest"`
	Size     int64  `json:"size"`
	Platform struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
	} `json:"platform"`
}

// imageTree reads the files of an image that is here.
func imageTree(ctx context.Context, from runner.Contents, digest string) (*tree, error) {
	for range 3 { // an index may be in an index
		var m manifest
		content, err := io.ReadAll(io.LimitReader(&content{ctx: ctx, from: from, digest: digest}, maxManifest+1))
		if err == nil && len(content) > maxManifest {
			err = errors.New("its manifest is too large")
		}
		if err == nil {
			err = json.Unmarshal(content, &m)
		}
		if err != nil {
			return nil, err
		}
		if len(m.Manifests) == 0 {
			return layersTree(ctx, from, m.Layers)
		}
		digest = ""
		for _, one := range m.Manifests {
			if p := one.Platform; digest == "" && (p.OS == "linux" && p.Architecture == runtime.GOARCH || p.Architecture == "") {
				digest = one.Digest
			}
		}
	}
	return nil, errors.New("its index has no image for this machine")
}

// layersTree reads the files of layers.
func layersTree(ctx context.Context, from runner.Contents, layers []part) (*tree, error) {
	t, sum := newTree(), int64(0)
	for _, l := range layers {
		sum += l.Size
		if err := t.fits(0, sum); err != nil {
			return nil, err
		}
	}
	for _, l := range layers {
		if err := t.addLayer(&content{ctx: ctx, from: from, digest: l.Digest}); err != nil {
			return nil, err
		}
	}
	if len(t.entries) == 0 {
		return nil, errors.New("it has no files")
	}
	return t, t.checkLinks()
}

// content reads one content of a store of images.
type content struct {
	ctx    context.Context // of the read
	from   runner.Contents
	digest string
	at     int64
}

// piece is how many bytes are read at a time.
const piece = 256 << 10

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	b, err := c.from.ReadContent(c.ctx, c.digest, c.at, min(len(p), piece))
	if err == nil && len(b) == 0 {
		err = io.EOF
	}
	c.at += int64(len(b))
	return copy(p, b), err
}

// unpacked returns the tar in a layer, compressed or not.
func unpacked(layer io.Reader) (io.Reader, error) {
	in := bufio.NewReader(layer)
	head, err := in.Peek(4)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzip.NewReader(in)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBytes))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return in, nil
}

// Names in a layer that remove what a layer below has.
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

// maxTar is how many bytes a layer has at most as a tar, with the room that tar takes for each file.
const maxTar = maxBytes + 4096*maxEntries

// addLayer adds the files of a layer.
func (t *tree) addLayer(layer io.Reader) error {
	raw, err := unpacked(layer)
	if err != nil {
		return err
	}
	in := tar.NewReader(io.LimitReader(raw, maxTar))
	own := map[string]bool{} // the names that this layer has: what it hides is of the layers below
	for n := 0; ; n++ {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("a layer of it is broken: %w", err)
		}
		if err := t.fits(n, int64(t.size)+h.Size); err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(h.Name, "./"), "/")
		base := path.Base(name)
		switch {
		case h.Typeflag == tar.TypeXGlobalHeader: // a remark about the whole archive, as git writes it
		case h.Typeflag == tar.TypeDir:
			if _, is := t.entries[name]; is {
				t.remove(name)
			}
		case base == opaque:
			t.hide(path.Dir(name), own)
		case strings.HasPrefix(base, whiteout):
			t.remove(path.Join(path.Dir(name), strings.TrimPrefix(base, whiteout)))
		default:
			e, err := t.entryOf(h, in)
			if err != nil {
				return err
			}
			if err := t.add(name, e); err != nil {
				return err
			}
			own[name] = true
		}
	}
}

// hide removes all below a directory but what a layer has itself.
func (t *tree) hide(dir string, own map[string]bool) {
	for _, name := range slices.Collect(maps.Keys(t.entries)) {
		if !own[name] && (dir == "." || strings.HasPrefix(name, dir+"/")) {
			t.remove(name)
		}
	}
}

// entryOf returns the file or the link of a header in a tar.
func (t *tree) entryOf(h *tar.Header, in io.Reader) (entry, error) {
	switch h.Typeflag {
	case tar.TypeReg:
		mode := modeFile
		if h.Mode&0o100 != 0 {
			mode = modeProgram
		}
		content, err := io.ReadAll(in)
		return entry{mode, content}, err
	case tar.TypeSymlink:
		return entry{modeLink, []byte(h.Linkname)}, nil
	case tar.TypeLink:
		if same, is := t.entries[strings.TrimPrefix(path.Clean("/"+h.Linkname), "/")]; is && !strings.Contains(h.Linkname, "..") {
			return same, nil
		}
		return entry{}, fmt.Errorf("its file %s is a link to %q, which is not one of its files", diag.Visible(h.Name), h.Linkname)
	}
	return entry{}, fmt.Errorf("it has %s, which is a device, a pipe or a socket, and no file", diag.Visible(h.Name))
}
