package modules

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"deployster/config"
	"deployster/internal/runtime/modsource"
	"deployster/internal/runtime/runner"
)

// blobs is a store of images in memory, with one image of each name.
type blobs struct {
	content  map[string][]byte
	named    map[string]string
	wanted   []runner.Wanted
	fails    error
	unsigned error // of who requires a signature
}

func (b *blobs) ReadContent(_ context.Context, digest string, offset int64, n int) ([]byte, error) {
	content, is := b.content[digest]
	if !is {
		return nil, fmt.Errorf("no content %s", digest)
	}
	rest := content[min(offset, int64(len(content))):]
	return rest[:min(n, len(rest))], nil
}

func (b *blobs) Obtain(_ context.Context, w runner.Wanted) (runner.Image, error) {
	b.wanted = append(b.wanted, w)
	if w.Verify != nil && b.unsigned != nil {
		return runner.Image{}, b.unsigned
	}
	if _, digest, is := strings.Cut(w.Reference, "@"); is {
		return runner.Image{Digest: digest}, b.fails
	}
	return runner.Image{Digest: b.named[w.Reference], Pulled: true}, b.fails
}

func (b *blobs) add(content []byte) part {
	sum := sha256.Sum256(content)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	b.content[digest] = content
	return part{Digest: digest, Size: int64(len(content))}
}

// image adds an image of layers.
func (b *blobs) image(t *testing.T, name string, layers ...[]byte) {
	t.Helper()
	m := manifest{}
	for _, l := range layers {
		m.Layers = append(m.Layers, b.add(l))
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	b.named[name] = b.add(text).Digest
}

func newBlobs() *blobs { return &blobs{content: map[string][]byte{}, named: map[string]string{}} }

// layer makes a tar of headers; the content of a file is its name, unless it has a size.
func layer(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		content := []byte(nil)
		if h.Typeflag == tar.TypeReg {
			if content = []byte(h.Name); h.Size > 0 {
				content = make([]byte, h.Size)
			}
			h.Size = int64(len(content))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func file(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644} }

func link(name, to string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to}
}

func zipped(t *testing.T, layer []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(layer); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstandard(t *testing.T, layer []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(layer, nil)
}

const imageName = "registry.example.com/acme/web:1"

func fetchOf(b *blobs) (config.ModulePin, *tree, error) {
	return fetchImage(context.Background(), b, modsource.Address{Image: imageName}, config.ModulePin{}, nil, false)
}

func TestImage_LayersAreOnTopOfEachOther(t *testing.T) {
	b := newBlobs()
	program := file("run.sh")
	program.Mode = 0o755
	dir := tar.Header{Name: "./d/", Typeflag: tar.TypeDir, Mode: 0o755}
	hard := tar.Header{Name: "hard", Typeflag: tar.TypeLink, Linkname: "main.hcl"}
	b.image(t, imageName, zipped(t, layer(t, dir, file("./main.hcl"), file("./d/a"), file("./d/b"), file("o/x"), program)),
		zstandard(t, layer(t, file("d/.wh.a"), file("o/.wh..wh..opq"), file("o/y"), link("l", "d/b"), hard)))
	_, got, err := fetchOf(b)
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(got.entries)); !slices.Equal(names, []string{"d/b", "hard", "l", "main.hcl", "o/y", "run.sh"}) {
		t.Errorf("%q", names)
	}
	if got.entries["run.sh"].mode != modeProgram || got.entries["l"].mode != modeLink || string(got.entries["hard"].content) != "./main.hcl" {
		t.Errorf("%+v", got.entries)
	}
}

// What a layer hides is of the layers below: of the whole image too, and whatever the order in the layer.
func TestImage_HidesOnlyWhatIsBelow(t *testing.T) {
	b := newBlobs()
	git := tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": "0123456789abcdef"}}
	b.image(t, imageName, layer(t, git, file("old.hcl"), file("d/old")), layer(t, file("main.hcl"), file(".wh..wh..opq"), file("d/new")))
	_, got, err := fetchOf(b)
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(got.entries)); !slices.Equal(names, []string{"d/new", "main.hcl"}) {
		t.Errorf("%q", names)
	}
}

// Each of these is refused whole, and writes nothing.
func TestImage_HostileOnesAreRefused(t *testing.T) {
	huge := file("huge")
	huge.Size = maxBytes + 1
	many := make([]tar.Header, maxEntries+1)
	for i := range many {
		many[i] = file(fmt.Sprint(i))
	}
	for name, c := range map[string]struct {
		layer []byte
		want  string
	}{
		"an absolute link":          {layer(t, link("l", "/etc/passwd")), "out of the module"},
		"a link above":              {layer(t, link("d/l", "../../x")), "out of the module"},
		"an absolute path":          {layer(t, file("/etc/x")), "outside of its root"},
		"a path above":              {layer(t, file("a/../../x")), "outside of its root"},
		"a path above at the start": {layer(t, file("../x")), "outside of its root"},
		"a device":                  {layer(t, tar.Header{Name: "null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}), "a device, a pipe or a socket"},
		"a block device":            {layer(t, tar.Header{Name: "sda", Typeflag: tar.TypeBlock, Devmajor: 8}), "a device, a pipe or a socket"},
		"a pipe":                    {layer(t, tar.Header{Name: "pipe", Typeflag: tar.TypeFifo}), "a device, a pipe or a socket"},
		"a hard link outside":       {layer(t, tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), "not one of its files"},
		"a hard link above":         {layer(t, file("a"), tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "../a"}), "not one of its files"},
		"a huge file":               {zipped(t, layer(t, huge)), "more than 64 MiB"},
		"very many files":           {zipped(t, layer(t, many...)), "more than 10000 files"},
		"a repository in it":        {layer(t, file("x/.GIT/config")), "files of a repository"},
		"no files":                  {layer(t), "no files"},
		"a broken layer":            {[]byte(strings.Repeat("x", 1024)), "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			b, cache := newBlobs(), t.TempDir()
			b.image(t, imageName, c.layer)
			p := New(t.Context(), Options{Dir: t.TempDir(), CacheDir: cache, Pin: true, Images: func(context.Context) (Images, error) { return b, nil }})
			got, err := p.Package(modsource.Address{Image: imageName}, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(got.Files) > 0 || len(p.Pins()) > 0 {
				t.Errorf("%v, %v", got, err)
			}
			if left, _ := os.ReadDir(cache); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
