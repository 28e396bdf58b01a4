package planpage

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

var (
	//go:embed page.html
	markup string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// policy returns the Content-Security-Policy of the page: it allows only the page's own
// style and script, identified by their hashes. The page fetches nothing.
func policy() string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}
