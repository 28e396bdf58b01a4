package planpage

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

var (
	//go:embed page.css
	style string
	//go:embed page.js
	script string
	//go:embed help.html
	help string
)

// icon is the page's, in its tab.
const icon = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230969da'/%3E%3Cpath d='M4 5h8M4 8h5M4 11h7' stroke='%23fff' stroke-width='1.6' stroke-linecap='round'/%3E%3C/svg%3E`

// policy is what a browser lets the page do: nothing but its own style and its
// own script, which are told by their hashes. Nothing is fetched from anywhere.
func policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) + "; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}
