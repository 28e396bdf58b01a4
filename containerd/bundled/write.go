package bundled

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
	digest "github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// entrypoint is where the program is in an image, whatever its name: a machine is mounted at /machine.
const entrypoint = "/type"

// Write writes the layout of an image with one static program, which is its entrypoint, into a
// directory that is made. programs has the file of the program for each architecture; answers are what
// it answers to init, nil = that is not kept. The same programs always give the same bytes.
func Write(dir, name string, programs map[string]string, answers *Answers) error {
	w := writer{dir: dir}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o755); err != nil {
		return err
	}
	var architectures []string
	for arch := range programs {
		architectures = append(architectures, arch)
	}
	slices.Sort(architectures)
	index := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex}
	for _, arch := range architectures {
		manifest := w.image(arch, entrypoint, programs[arch])
		manifest.Platform = &ocispec.Platform{OS: "linux", Architecture: arch}
		index.Manifests = append(index.Manifests, manifest)
	}
	all := w.document(ocispec.MediaTypeImageIndex, index)
	all.Annotations = map[string]string{ocispec.AnnotationRefName: name}
	w.answers(answers, &all)
	w.file(ocispec.ImageIndexFile, encode(ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{all}}))
	w.file(ocispec.ImageLayoutFile, encode(ocispec.ImageLayout{Version: ocispec.ImageLayoutVersion}))
	return w.err
}

// writer writes a layout, until a first error.
type writer struct {
	dir string
	err error
}

func (w *writer) file(name string, content []byte) {
	if w.err == nil {
		w.err = os.WriteFile(filepath.Join(w.dir, name), content, 0o644)
	}
}

func (w *writer) blob(mediaType string, content []byte) ocispec.Descriptor {
	d := digest.FromBytes(content)
	w.file(filepath.Join("blobs", d.Algorithm().String(), d.Encoded()), content)
	return ocispec.Descriptor{MediaType: mediaType, Digest: d, Size: int64(len(content))}
}

func (w *writer) document(mediaType string, value any) ocispec.Descriptor {
	return w.blob(mediaType, encode(value))
}

func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // these types have a JSON form
	}
	return text
}

// image writes the image of one architecture.
func (w *writer) image(arch, target, program string) ocispec.Descriptor {
	files := w.layer(target, program)
	layer := w.blob(ocispec.MediaTypeImageLayerZstd, w.compressed(files))
	config := ocispec.Image{Platform: ocispec.Platform{OS: "linux", Architecture: arch},
		Config: ocispec.ImageConfig{Entrypoint: []string{target}, WorkingDir: "/"},
		RootFS: ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(files)}}}
	return w.document(ocispec.MediaTypeImageManifest, ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: ocispec.MediaTypeImageManifest, Config: w.document(ocispec.MediaTypeImageConfig, config),
		Layers: []ocispec.Descriptor{layer}})
}

// compressed compresses a layer once, so that each host is sent a third of it.
func (w *writer) compressed(layer []byte) []byte {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithWindowSize(1<<20), zstd.WithEncoderConcurrency(1)) // a larger window takes longer to restore
	if err != nil {
		panic(err) // these options are valid
	}
	defer func() { _ = encoder.Close() }() // it writes nowhere
	return encoder.EncodeAll(layer, nil)
}

// layer returns the files of an image.
func (w *writer) layer(target, program string) []byte {
	content, err := os.ReadFile(program)
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	if err == nil {
		err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Base(target), Mode: 0o755, Size: int64(len(content)),
			ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR})
	}
	if err == nil {
		_, err = t.Write(content)
	}
	if err == nil {
		err = t.Close()
	}
	if w.err == nil {
		w.err = err
	}
	return b.Bytes()
}
