package images

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"deployster/internal/base/diag"
	"deployster/internal/base/durable"
)

// OpenArchive opens an archive of images to import: a file, a directory with an OCI
// layout, or - for standard input.
func OpenArchive(name string, absolute func(string) string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	path := absolute(name)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if isFile(filepath.Join(path, "version")) && !isFile(filepath.Join(path, "oci-layout")) {
			return nil, diag.Errorf("This is not an archive of images", "The directory %s has the form that skopeo calls dir:, which "+
				"has no name for its image. Convert it to an OCI layout: skopeo copy dir:%[1]s oci:LAYOUT:NAME:TAG, then import "+
				"LAYOUT.", diag.Visible(name))
		}
		if !isFile(filepath.Join(path, "oci-layout")) && !isFile(filepath.Join(path, "manifest.json")) {
			return nil, diag.Errorf("This is not an archive of images", "The directory %s has no file oci-layout. Name one with an OCI "+
				"layout, as `deployster image save NAME DIR` makes it, or a tar.", diag.Visible(name))
		}
		return OpenLayout(path), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, diag.Errorf("Cannot read the image file", "%s.", err)
	}
	return f, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// SaveTo writes an image into a file, or as an OCI layout into a directory.
func SaveTo(ctx context.Context, s Store, reference, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return SaveLayout(ctx, s, reference, path)
	}
	err := durable.WriteFrom(path, 0o644, func(to io.Writer) error { return s.Save(ctx, reference, to) })
	if err != nil && !diag.Is[*diag.Diagnostic](err) {
		return diag.Errorf("Cannot save the image", "%s.", err)
	}
	return err
}

// OpenLayout reads a directory with an OCI layout as the tar that Import takes.
func OpenLayout(dir string) io.ReadCloser {
	from, to := io.Pipe()
	go func() {
		w := tar.NewWriter(to)
		err := w.AddFS(os.DirFS(dir))
		if err == nil {
			err = w.Close()
		}
		to.CloseWithError(err)
	}()
	return from
}

// SaveLayout writes an image as an OCI layout into an empty directory.
func SaveLayout(ctx context.Context, s Store, reference, dir string) error {
	if there, err := os.ReadDir(dir); err != nil || len(there) > 0 {
		return diag.Errorf("Cannot save the image", "%s is not an empty directory. Name one, or a file.", dir)
	}
	from, to := io.Pipe()
	go func() { to.CloseWithError(s.Save(ctx, reference, to)) }()
	defer from.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return diag.Errorf("Cannot save the image", "%s.", err)
	}
	defer root.Close()
	for r := tar.NewReader(from); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && head.Typeflag == tar.TypeReg {
			err = unpack(root, head.Name, r)
		}
		if err != nil {
			if diag.Is[*diag.Diagnostic](err) {
				return err
			}
			return diag.Errorf("Cannot save the image", "%s.", err)
		}
	}
}

// unpack writes one file below a directory.
func unpack(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
