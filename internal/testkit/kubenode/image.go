package kubenode

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
)

const (
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar"
)

// pushPause pushes the image of the process that holds the namespaces of a Pod.
func (n *Node) pushPause() error {
	_, err := n.Push("pause", "1", map[string]string{}, "/bin/busybox", "sleep", "infinity")
	return err
}

// Push pushes an image with busybox, files and an entrypoint to the registry, and returns the digest. Directories of
// its commands are /bin; each file may be executed.
func (n *Node) Push(repository, tag string, files map[string]string, entrypoint ...string) (string, error) {
	busybox, err := os.ReadFile("/bin/busybox")
	if err != nil {
		return "", err
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	add := func(h *tar.Header, content []byte) {
		h.Size = int64(len(content))
		err = errors.Join(err, w.WriteHeader(h))
		_, writeErr := w.Write(content)
		err = errors.Join(err, writeErr)
	}
	add(&tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}, nil)
	add(&tar.Header{Name: "bin/busybox", Mode: 0o755}, busybox)
	for _, name := range strings.Fields("cat dd echo env head id kill ls mkdir printf pwd rm sed seq sh sleep test touch tr wc yes") {
		add(&tar.Header{Name: "bin/" + name, Typeflag: tar.TypeSymlink, Linkname: "busybox"}, nil)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		add(&tar.Header{Name: name, Mode: 0o755}, []byte(files[name]))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return "", err
	}
	config, err := json.Marshal(map[string]any{"os": "linux", "architecture": runtime.GOARCH,
		"config": map[string]any{"Entrypoint": entrypoint, "Env": []string{"PATH=/bin"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(layer.Bytes())}}})
	if err != nil {
		return "", err
	}
	describe := func(mediaType string, b []byte) map[string]any {
		err = errors.Join(err, n.pushBlob(repository, b))
		return map[string]any{"mediaType": mediaType, "digest": digest(b), "size": len(b)}
	}
	manifest, encodeErr := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": manifestType,
		"config": describe(configType, config), "layers": []any{describe(layerType, layer.Bytes())}})
	if err = errors.Join(err, encodeErr); err != nil {
		return "", err
	}
	return digest(manifest), put(n.url(repository, "/manifests/"+tag), manifestType, manifest)
}

func (n *Node) pushBlob(repository string, b []byte) error {
	answer, err := http.Post(n.url(repository, "/blobs/uploads/"), "", nil)
	if err != nil {
		return err
	}
	at, err := answer.Location()
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	query := at.Query()
	query.Set("digest", digest(b))
	at.RawQuery = query.Encode()
	return put(at.String(), "application/octet-stream", b)
}

func put(url, mediaType string, b []byte) error {
	request, err := http.NewRequest(http.MethodPut, url, bytes.NewReader(b))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", mediaType)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusCreated {
		err = fmt.Errorf("PUT %s: %s: %s", url, answer.Status, text)
	}
	return err
}

func digest(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }
