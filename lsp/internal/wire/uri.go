package wire

import (
	"net/url"
	"path/filepath"
)

// Path returns the absolute path of a file's URI; "" = it is not the URI of a file.
func Path(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !filepath.IsAbs(u.Path) {
		return ""
	}
	return filepath.Clean(u.Path)
}

// URI returns the URI of a file.
func URI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }
