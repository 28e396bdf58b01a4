package secret

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// minLine is what MinEmbedded is for one line of a secret that has several.
const minLine = 8

// Hider takes secrets out of texts.
type Hider struct {
	exact    map[string]bool
	embedded *strings.Replacer
}

// NewHider returns what hides the secrets, in the forms in which programs print
// one: as it is, as JSON writes it, as base64 and as part of an address.
func NewHider(secrets []string) *Hider {
	h := &Hider{exact: map[string]bool{}}
	var forms []string
	for _, s := range secrets {
		h.exact[s] = s != ""
		if len(s) >= MinEmbedded {
			forms = append(forms, s, strings.Trim(strconv.Quote(s), `"`), jsonText(s, true), jsonText(s, false),
				base64.StdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)), url.QueryEscape(s))
		}
		// A log is hidden line by line, and a key has many.
		for line := range strings.SplitSeq(s, "\n") {
			if line = strings.TrimSpace(line); len(line) >= minLine && line != s {
				forms = append(forms, line)
			}
		}
	}
	// The longest first: one secret may be part of another.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, Masked)
	}
	h.embedded = strings.NewReplacer(pairs...)
	return h
}

// Hide returns a text without the secrets.
func (h *Hider) Hide(text string) string {
	if h.exact[text] {
		return Masked
	}
	return h.embedded.Replace(text)
}

// jsonText is a string as JSON writes it, without its quotes. Some writers also
// escape what HTML would mind.
func jsonText(s string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(s) // a string always has a JSON form
	text := strings.TrimSuffix(b.String(), "\n")
	return text[1 : len(text)-1]
}
